package release_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// configuration is what the test here looks at. The workflow of the tests lets GoReleaser itself check the whole.
type configuration struct {
	Builds []struct {
		Main    string   `json:"main"`
		Env     []string `json:"env"`
		Goos    []string `json:"goos"`
		Goarch  []string `json:"goarch"`
		Flags   []string `json:"flags"`
		Ldflags string   `json:"ldflags"`
	} `json:"builds"`
}

func TestReleaseAndImageBuildTheSameBinary(t *testing.T) {
	var c configuration
	if err := yaml.Unmarshal([]byte(deploytest.Read(t, ".goreleaser.yaml")), &c); err != nil || len(c.Builds) != 1 {
		t.Fatal(err, c)
	}
	b := c.Builds[0]
	if !slices.Equal(b.Goos, []string{"linux", "darwin", "windows"}) || !slices.Equal(b.Goarch, []string{"amd64", "arm64"}) ||
		!slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) {
		t.Errorf("%+v", b)
	}
	dockerfile := strings.ReplaceAll(deploytest.Read(t, "deploy/Dockerfile"), "\\\n    ", "")
	want := "CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build " + strings.Join(b.Flags, " ") +
		` -ldflags "` + strings.ReplaceAll(b.Ldflags, "{{ .Tag }}", "${VERSION}") + `" -o /worker ` + b.Main + "\n"
	if !strings.Contains(dockerfile, want) {
		t.Errorf("deploy/Dockerfile does not hold\n%s", want)
	}
	release := deploytest.Read(t, ".github/workflows/release.yml")
	if !strings.Contains(release, "VERSION: ${{ github.ref_name }}") || !strings.Contains(release, `--build-arg "VERSION=$VERSION"`) {
		t.Error("the image does not get the tag as its version")
	}
	golang := regexp.MustCompile(`golang:([0-9.]+)-bookworm`).FindStringSubmatch(dockerfile)
	if golang == nil {
		t.Fatal("the image is built with no certain version of Go")
	}
	for name := range workflows(t) {
		for _, v := range regexp.MustCompile(`go-version: (\S+)`).FindAllStringSubmatch(deploytest.Read(t, ".github/workflows/"+name), -1) {
			if v[1] != golang[1] {
				t.Errorf("%s builds with Go %s, the image with %s", name, v[1], golang[1])
			}
		}
	}
}
