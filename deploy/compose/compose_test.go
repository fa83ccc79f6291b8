// Package compose_test reads the compose files as Docker's own compose does, without a container engine.
package compose_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"

	"hospital.example/analyze-retry/deploy/deploytest"
)

const (
	all     = "../../docker-compose.yml"
	camunda = "camunda.yml" // next to Camunda's own files
)

// load reads a compose file strictly, with variables for its ${NAME}s.
func load(t *testing.T, file string, env ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions(
		[]string{file},
		cli.WithWorkingDirectory(filepath.Dir(file)),
		cli.WithEnv(env),
		cli.WithProfiles([]string{"*"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestServicesHaveOnlyRightsTheyNeed(t *testing.T) {
	pinned := regexp.MustCompile(`:v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[a-z0-9.]+)?$`)
	for _, file := range []string{all, camunda} {
		for name, s := range load(t, file).Services {
			for _, p := range s.Ports {
				if p.HostIP != "127.0.0.1" {
					t.Errorf("%s: port %s is published on %q, not to this machine only", name, p.Published, p.HostIP)
				}
			}
			if s.Build == nil && !pinned.MatchString(s.Image) {
				t.Errorf("%s: image %s is of no certain version", name, s.Image)
			}
			if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
				t.Errorf("%s: security_opt is %v", name, s.SecurityOpt)
			}
			// The broker writes to more places than its data, and its image may start as root to hand them over.
			if name != "zeebe" && (!s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"})) {
				t.Errorf("%s: read_only is %v, cap_drop %v", name, s.ReadOnly, s.CapDrop)
			}
			for _, v := range s.Volumes {
				// An engine would make a folder where a file is missing.
				if _, err := os.Stat(v.Source); v.Type == types.VolumeTypeBind && (err != nil || !v.ReadOnly) {
					t.Errorf("%s: %s at %s: %v, read only %v", name, v.Source, v.Target, err, v.ReadOnly)
				}
			}
		}
	}
}

func TestThePlayersTakeTheirCommands(t *testing.T) {
	usage, _ := deploytest.Run(t, ".", deploytest.Build(t, "sandbox")) // without a command it fails
	services := load(t, all).Services
	for _, name := range []string{"insurer", "claim"} {
		s := services[name]
		command := strings.TrimPrefix(strings.Join(slices.Concat(s.Entrypoint, s.Command), " "), "/sandbox ")
		if !strings.Contains(usage, "\n  sandbox "+command+" ") || s.Environment["ZEEBE_ADDRESS"] == nil {
			t.Errorf("%s: sandbox %s, with %v:\n%s", name, command, s.Environment, usage)
		}
		if !strings.Contains(deploytest.Read(t, "deploy/Dockerfile"), "FROM build AS "+s.Build.Target+"\n") {
			t.Errorf("%s: the Dockerfile has no stage %q", name, s.Build.Target)
		}
	}
}

func TestTheWorkerTakesTheCommandsOfComposeFiles(t *testing.T) {
	program := deploytest.Worker(t)
	for _, file := range []string{all, camunda} {
		for name, s := range load(t, file).Services {
			if s.Image != "analyze-retry:latest" {
				continue
			}
			out, err := deploytest.Run(t, ".", program, append(slices.Clone(s.Command), "--help")...)
			if err != nil || !strings.Contains(out, "\n  worker "+strings.Join(s.Command, " ")) {
				t.Errorf("%s of %s: worker %v: %v\n%s", name, file, s.Command, err, out)
			}
		}
	}
}

func TestWorkerTakesSettingsOfComposeFiles(t *testing.T) {
	program := deploytest.Worker(t)
	key, _ := deploytest.KeyPair(t)
	keyFile := filepath.Join(t.TempDir(), "audit.key")
	deploytest.Write(t, keyFile, key)
	for name, c := range map[string]struct {
		file string
		env  []string
		want []string
	}{
		"everything":                     {all, nil, []string{"amqp://analyze-retry:xxxxx@queue:5672"}},
		"Camunda without authentication": {camunda, nil, []string{"grpc://orchestration:26500"}},
		"Camunda with Keycloak": {
			camunda,
			[]string{
				"CAMUNDA_CLIENT_ID=orchestration",
				"CAMUNDA_CLIENT_SECRET=secret",
				"RETRY_HTTP_TOKEN=0123456789abcdef",
			},
			[]string{"http://host.docker.internal:18080/auth/realms/camunda-platform", "orchestration-api"},
		},
		"Camunda with Basic over REST": {
			camunda,
			[]string{
				"CAMUNDA_BASIC_AUTH_USERNAME=demo",
				"CAMUNDA_BASIC_AUTH_PASSWORD=demo",
				"ZEEBE_ADDRESS=http://orchestration:8080",
			},
			[]string{"http://orchestration:8080"},
		},
		"Camunda 8.5 with a token endpoint of its own": {
			camunda,
			[]string{
				"ZEEBE_ADDRESS=grpc://zeebe:26500",
				"CAMUNDA_CLIENT_ID=analyze-retry",
				"CAMUNDA_CLIENT_SECRET=secret",
				"CAMUNDA_OAUTH_URL=https://login.example/token",
				"CAMUNDA_TOKEN_AUDIENCE=zeebe-api",
			},
			[]string{"https://login.example/token", "zeebe-api"},
		},
	} {
		project := load(t, c.file, c.env...)
		cmd := exec.CommandContext(t.Context(), program, "config")
		cmd.Dir = t.TempDir()
		for variable, value := range project.Services["worker"].Environment {
			switch variable {
			case "RETRY_HTTP_TOKEN_FILE":
				*value = project.Secrets["http-token"].File
			case "RETRY_AUDIT_KEY_FILE":
				*value = keyFile
			}
			cmd.Env = append(cmd.Env, variable+"="+*value)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: worker config: %v\n%s", name, err, out)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: worker config does not show %s:\n%s", name, want, out)
			}
		}
	}
}
