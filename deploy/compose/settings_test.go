package compose_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// worker builds the worker.
func worker(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "worker")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, "./cmd/worker")
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// settings returns a service's variables, with files of this machine in the place of those in the container.
func settings(t *testing.T, s service) []string {
	t.Helper()
	env := make([]string, 0, len(s.Environment))
	for name, value := range s.Environment {
		v := *value
		switch name {
		case "RETRY_HTTP_TOKEN_FILE":
			v = s.project.Secrets[strings.TrimPrefix(v, "/run/secrets/")].File
		case "RETRY_AUDIT_KEY_FILE":
			v = key(t)
		}
		env = append(env, name+"="+v)
	}
	return env
}

func key(t *testing.T) string {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "audit.key")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheWorkerKnowsAndTakesEverySetting(t *testing.T) {
	documented, err := os.ReadFile(top + "/docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	program := worker(t)
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			if s.Image != "analyze-retry:latest" {
				return
			}
			for name := range s.Environment {
				if !strings.Contains(string(documented), "`"+name+"`") {
					t.Errorf("%s is not in docs/configuration.md", name)
				}
			}
			// What a one-shot needs is less than what the worker needs, so only the worker's settings are complete.
			if s.Name != "worker" {
				return
			}
			accepts(t, program, settings(t, s))
		})
	}
}

func accepts(t *testing.T, program string, env []string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), program, "config")
	run.Env, run.Dir = env, t.TempDir()
	var errors strings.Builder
	run.Stderr = &errors
	out, err := run.Output()
	if said := exposedToken.ReplaceAllString(errors.String(), ""); err != nil || said != "" {
		t.Errorf("worker config: %v\n%s%s", err, said, out)
	}
}

// exposedToken is the one warning that is meant: everybody may read the token for development, the user of the container too.
var exposedToken = regexp.MustCompile(`(?m)^warning: RETRY_HTTP_TOKEN_FILE: the file has mode .*/development-http-token\n`)

func TestOAuthOfTheOverlayIsCompleteOnceAnIDIsSet(t *testing.T) {
	p := load(t, overlay, "ZEEBE_CLIENT_ID=analyze-retry", "ZEEBE_CLIENT_SECRET=secret", "ZEEBE_ADDRESS=zeebe.example:443",
		"ZEEBE_INSECURE_CONNECTION=false", "ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token", "RETRY_HTTP_TOKEN=0123456789abcdef")
	s := p.Services["worker"]
	for name, want := range map[string]string{
		"ZEEBE_TOKEN_AUDIENCE": "zeebe-api", "ZEEBE_ADDRESS": "zeebe.example:443", "RETRY_HTTP_ADDRESS": "0.0.0.0:8080",
	} {
		if got := s.Environment[name]; got == nil || *got != want {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
	accepts(t, worker(t), settings(t, service{s, p}))
}

func TestThePasswordsAreThoseOfTheRoles(t *testing.T) {
	made, err := os.ReadFile("development-passwords.sql")
	if err != nil {
		t.Fatal(err)
	}
	p := load(t, all)
	for service, role := range map[string]string{"migrate": "analyze_retry_owner", "worker": "analyze_retry_app"} {
		at, err := url.Parse(*p.Services[service].Environment["RETRY_DATABASE_URL"])
		if err != nil {
			t.Fatal(err)
		}
		password, _ := at.User.Password()
		if at.User.Username() != role || !strings.Contains(string(made), "ALTER ROLE "+role+" PASSWORD '"+password+"';") {
			t.Errorf("%s signs in as %s with a password that development-passwords.sql does not set", service, at.User.Username())
		}
		if at.Hostname() != "postgres" || at.Path != "/"+*p.Services["postgres"].Environment["POSTGRES_DB"] {
			t.Errorf("%s uses the database at %s", service, at.Redacted())
		}
	}
}

// Whatever lies open in the repository says so itself.
func TestWhatIsSecretElsewhereIsMarkedAsForDevelopment(t *testing.T) {
	token, err := os.ReadFile("development-http-token")
	if err != nil {
		t.Fatal(err)
	}
	open := []string{string(token)}
	for _, s := range load(t, all).Services {
		for name, value := range s.Environment {
			if strings.Contains(name, "PASSWORD") {
				open = append(open, *value)
			}
			if at, err := url.Parse(*value); err == nil && at.User != nil {
				password, _ := at.User.Password()
				open = append(open, password)
			}
		}
	}
	if len(open) < 5 || slices.ContainsFunc(open, func(v string) bool { return !strings.HasPrefix(v, "development-only-") }) {
		t.Errorf("these must begin with development-only-: %q", open)
	}
}
