// Package compose_test holds the compose files to what they promise, without a container engine: they are read as
// Docker's own compose reads them.
package compose_test

import (
	"os"
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
	top      = "../.."
	all      = top + "/docker-compose.yml"
	camunda  = "camunda.yml"          // next to Camunda 8.8 and later
	platform = "camunda-platform.yml" // next to Camunda 8.5
)

// load reads a compose file, with variables for its ${NAME}s.
func load(t *testing.T, file string, env ...string) *types.Project {
	t.Helper()
	project, err := read(t, file, env...)
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func read(t *testing.T, file string, env ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{file}, cli.WithWorkingDirectory(filepath.Dir(file)), cli.WithEnv(env))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

// service is a service and the file that it stands in.
type service struct {
	types.ServiceConfig
	project *types.Project
}

// services returns those of all files, by file and name.
func services(t *testing.T) map[string]service {
	t.Helper()
	found := map[string]service{}
	for _, file := range []string{all, camunda, platform} {
		project := load(t, file)
		for name, s := range project.Services {
			found[filepath.Base(file)+"/"+name] = service{s, project}
		}
	}
	return found
}

func TestComposeFilesAreStrictAndNeedNoVariable(t *testing.T) {
	bare := regexp.MustCompile(`\$\{[A-Za-z0-9_]+\}|\$\{[A-Za-z0-9_]+:?\?`)
	for _, file := range []string{"docker-compose.yml", "deploy/compose/" + camunda, "deploy/compose/" + platform} {
		text := deploytest.Read(t, file)
		broken := filepath.Join(t.TempDir(), "broken.yml")
		deploytest.Write(t, broken, strings.Replace(text, "restart:", "restrat:", 1))
		if _, err := read(t, broken); err == nil || !strings.Contains(err.Error(), "restrat") {
			t.Errorf("%s with a misspelt key: %v", file, err)
		}
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") && bare.MatchString(line) {
				t.Errorf("%s: no value where it is unset: %s", file, line)
			}
		}
	}
}

func TestNoServiceHasRightsItDoesNotNeed(t *testing.T) {
	// The broker writes to more places than its data, and its image may start as root to hand them over.
	loose := []string{"zeebe"}
	mayAdd := map[string][]string{"key": {"CHOWN"}}
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			for _, p := range s.Ports {
				if p.HostIP != "127.0.0.1" {
					t.Errorf("port %s is published on %q, not to this machine only", p.Published, p.HostIP)
				}
			}
			if s.Privileged || s.Pid != "" || s.Ipc != "" || s.NetworkMode == "host" || s.UserNSMode != "" || len(s.Devices) > 0 {
				t.Error("it reaches out of its container")
			}
			if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
				t.Errorf("security_opt %v", s.SecurityOpt)
			}
			if !slices.Equal(s.CapAdd, mayAdd[s.Name]) {
				t.Errorf("cap_add %v, want %v", s.CapAdd, mayAdd[s.Name])
			}
			if !slices.Contains(loose, s.Name) && (!s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"})) {
				t.Errorf("read_only %v, cap_drop %v", s.ReadOnly, s.CapDrop)
			}
		})
	}
}

func TestEveryImageIsOfOneVersion(t *testing.T) {
	tag := regexp.MustCompile(`:v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[a-z0-9.]+)?$`)
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(s.Image, "analyze-retry") { // it is built from the Dockerfile here
				if s.Build == nil {
					t.Error("our own image is in no registry, but the service does not build it")
					return
				}
				path := filepath.Join(s.Build.Context, s.Build.Dockerfile)
				if _, err := os.Stat(path); err != nil || s.Build.Context != deploytest.Path(t, "") {
					t.Errorf("it is built from %s in %s (%v)", path, s.Build.Context, err)
				}
				return
			}
			if !tag.MatchString(s.Image) {
				t.Errorf("image %s", s.Image)
			}
		})
	}
}

func TestWhatIsMountedIsThereAndCannotBeChanged(t *testing.T) {
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			for _, v := range s.Volumes {
				switch v.Type {
				case types.VolumeTypeBind:
					// An engine would make a folder where a file is missing.
					if _, err := os.Stat(v.Source); err != nil || !v.ReadOnly || strings.Contains(v.Source, "docker.sock") {
						t.Errorf("%s at %s: %v, read only %v", v.Source, v.Target, err, v.ReadOnly)
					}
				case types.VolumeTypeVolume:
					if _, declared := s.project.Volumes[v.Source]; v.Source == "" || !declared {
						t.Errorf("the volume at %s has no name, so its data would be lost", v.Target)
					}
				default:
					t.Errorf("%s at %s", v.Type, v.Target)
				}
			}
			for _, secret := range s.Secrets {
				if _, err := os.Stat(s.project.Secrets[secret.Source].File); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestEveryDependencyCanBeMet(t *testing.T) {
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			for name, d := range s.DependsOn {
				other := s.project.Services[name]
				switch d.Condition {
				case types.ServiceConditionHealthy:
					if other.HealthCheck == nil || other.HealthCheck.Disable {
						t.Errorf("it waits for %s to be healthy, which has no health check", name)
					}
				case types.ServiceConditionCompletedSuccessfully:
					if other.Restart == types.RestartPolicyAlways || other.Restart == types.RestartPolicyUnlessStopped {
						t.Errorf("it waits for %s to end, which is started again and again", name)
					}
				default:
					t.Errorf("it waits for %s only to be started", name)
				}
			}
		})
	}
}
