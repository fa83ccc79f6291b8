package release_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// configuration is what the tests here look at. The workflow of the tests lets GoReleaser itself check the whole.
type configuration struct {
	Before struct {
		Hooks []string `json:"hooks"`
	} `json:"before"`
	Builds []struct {
		Main    string   `json:"main"`
		Env     []string `json:"env"`
		Goos    []string `json:"goos"`
		Goarch  []string `json:"goarch"`
		Flags   []string `json:"flags"`
		Ldflags string   `json:"ldflags"`
	} `json:"builds"`
	Archives []struct {
		BuildsInfo owner `json:"builds_info"`
		Files      []struct {
			Src         string `json:"src"`
			StripParent bool   `json:"strip_parent"`
			Info        owner  `json:"info"`
		} `json:"files"`
	} `json:"archives"`
	SBOMs []struct {
		Artifacts string   `json:"artifacts"`
		Cmd       string   `json:"cmd"`
		Args      []string `json:"args"`
	} `json:"sboms"`
	Signs []struct {
		Artifacts string   `json:"artifacts"`
		Cmd       string   `json:"cmd"`
		Args      []string `json:"args"`
	} `json:"signs"`
	Release struct {
		Draft bool `json:"draft"`
	} `json:"release"`
}

type owner struct {
	Owner string `json:"owner"`
	Group string `json:"group"`
	Mtime string `json:"mtime"`
}

func goreleaser(t *testing.T) configuration {
	t.Helper()
	var c configuration
	if err := yaml.Unmarshal([]byte(deploytest.Read(t, ".goreleaser.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Builds) != 1 || len(c.Archives) != 1 || len(c.SBOMs) != 1 || len(c.Signs) != 1 {
		t.Fatalf("%+v", c)
	}
	return c
}

func TestReleaseAndImageBuildTheSameBinary(t *testing.T) {
	b := goreleaser(t).Builds[0]
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

// The licences ask for their texts to go along; the broker's forbids that it does.
func TestAnArchiveHoldsWhatTheLicencesAskFor(t *testing.T) {
	c := goreleaser(t)
	var names []string
	for _, f := range c.Archives[0].Files {
		names = append(names, filepath.Base(f.Src))
		if f.Info != c.Archives[0].BuildsInfo || f.Info.Mtime != "{{ .CommitDate }}" {
			t.Errorf("%s is packed with the time or the owner of the machine: %+v", f.Src, f.Info)
		}
		if strings.HasPrefix(f.Src, "bin/release/") {
			if !slices.ContainsFunc(c.Before.Hooks, func(hook string) bool { return strings.Contains(hook, "> "+f.Src) }) {
				t.Errorf("nothing makes %s", f.Src)
			}
		} else if _, err := os.Stat(deploytest.Path(t, f.Src)); err != nil {
			t.Error(err)
		}
		if f.StripParent != strings.Contains(f.Src, "/") {
			t.Errorf("%s does not lie at the top of the archive", f.Src)
		}
	}
	if want := []string{"LICENSE", "README.md", "THIRD_PARTY_LICENSES", "licenses.csv"}; !slices.Equal(names, want) {
		t.Errorf("an archive holds %v, want %v", names, want)
	}
}

func TestEveryBinaryIsDescribedAndTheChecksumsAreSigned(t *testing.T) {
	c := goreleaser(t)
	if s := c.SBOMs[0]; s.Artifacts != "binary" || s.Args[len(s.Args)-1] != "$artifact" ||
		!slices.ContainsFunc(c.Before.Hooks, func(h string) bool { return strings.Contains(h, "-o "+s.Cmd+" ./image/sbom") }) {
		t.Errorf("sboms %+v", s)
	}
	if s := c.Signs[0]; s.Artifacts != "checksum" || s.Cmd != "cosign" || slices.ContainsFunc(s.Args, func(a string) bool { return strings.Contains(a, "--key") }) {
		t.Errorf("signs %+v", s)
	}
	if !strings.Contains(deploytest.Read(t, ".github/workflows/release.yml"), `cosign sign --yes "$REFERENCE"`) {
		t.Error("the image is not signed")
	}
	if !c.Release.Draft {
		t.Error("a release is public before a person has looked at it")
	}
}
