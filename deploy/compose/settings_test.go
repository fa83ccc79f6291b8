package compose_test

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/deploy/deploytest"
)

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
			key, _ := deploytest.KeyPair(t)
			v = filepath.Join(t.TempDir(), "audit.key")
			deploytest.Write(t, v, key)
		}
		env = append(env, name+"="+v)
	}
	return env
}

func TestTheWorkerKnowsAndTakesEverySetting(t *testing.T) {
	documented, program := deploytest.Read(t, "docs/configuration.md"), deploytest.Worker(t)
	for name, s := range services(t) {
		if s.Image != "analyze-retry:latest" {
			continue
		}
		for variable := range s.Environment {
			if !strings.Contains(documented, "`"+variable+"`") {
				t.Errorf("%s: %s is not in docs/configuration.md", name, variable)
			}
		}
		// What a one-shot needs is less than what the worker needs, so only the worker's settings are complete.
		if s.Name == "worker" {
			accepts(t, program, settings(t, s))
		}
	}

	token := "RETRY_HTTP_TOKEN=0123456789abcdef"
	for name, c := range map[string]struct {
		file string
		set  []string
		want map[string]string
	}{
		"OAuth with Camunda 8.5": {
			platform,
			[]string{"ZEEBE_CLIENT_ID=analyze-retry", "ZEEBE_CLIENT_SECRET=secret", "ZEEBE_ADDRESS=zeebe.example:443", "ZEEBE_INSECURE_CONNECTION=false", "ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token"},
			map[string]string{"ZEEBE_TOKEN_AUDIENCE": "zeebe-api", "ZEEBE_ADDRESS": "zeebe.example:443"},
		},
		"OIDC with Camunda's Keycloak": {
			camunda,
			[]string{"CAMUNDA_CLIENT_ID=orchestration", "CAMUNDA_CLIENT_SECRET=secret"},
			map[string]string{"CAMUNDA_TOKEN_AUDIENCE": "orchestration-api", "ZEEBE_ADDRESS": "grpc://orchestration:26500"},
		},
		"Basic over REST, with a tenant": {
			camunda,
			[]string{"CAMUNDA_BASIC_AUTH_USERNAME=demo", "CAMUNDA_BASIC_AUTH_PASSWORD=demo", "ZEEBE_ADDRESS=http://orchestration:8080", "RETRY_TENANT=clinic-a"},
			map[string]string{"CAMUNDA_OAUTH_URL": "", "ZEEBE_ADDRESS": "http://orchestration:8080", "RETRY_TENANT": "clinic-a"},
		},
	} {
		p := load(t, c.file, append(c.set, token)...)
		s := p.Services["worker"]
		c.want["RETRY_HTTP_ADDRESS"] = "0.0.0.0:8080"
		for variable, want := range c.want {
			if got := s.Environment[variable]; got == nil {
				t.Errorf("%s: %s is not set, want %q", name, variable, want)
			} else if *got != want {
				t.Errorf("%s: %s is %q, want %q", name, variable, *got, want)
			}
		}
		accepts(t, program, settings(t, service{s, p}))
	}
}

func accepts(t *testing.T, program string, env []string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), program, "config")
	run.Env, run.Dir = env, t.TempDir()
	var errors strings.Builder
	run.Stderr = &errors
	out, err := run.Output()
	if said := meantWarning.ReplaceAllString(errors.String(), ""); err != nil || said != "" {
		t.Errorf("worker config: %v\n%s%s", err, said, out)
	}
}

// meantWarning matches the warnings that are meant: anyone can read the token for development, as the container's user must;
// and next to Camunda's compose files, which have no TLS, secrets cross a network of this machine in plaintext.
var meantWarning = regexp.MustCompile(`(?m)^warning: (RETRY_HTTP_TOKEN_FILE: the file has mode .*/development-http-token|` +
	`RETRY_ALLOW_INSECURE_TOKEN is true: the .* is sent to (grpc|http)://(orchestration|host\.docker\.internal):\d+ in plaintext.*)\n`)

func TestThePasswordsAreThoseOfTheRoles(t *testing.T) {
	made := deploytest.Read(t, "deploy/compose/development-passwords.sql")
	p := load(t, all)
	for service, role := range map[string]string{"migrate": "analyze_retry_owner", "worker": "analyze_retry_app"} {
		at, err := url.Parse(*p.Services[service].Environment["RETRY_DATABASE_URL"])
		if err != nil {
			t.Fatal(err)
		}
		password, _ := at.User.Password()
		if at.User.Username() != role || !strings.Contains(made, "ALTER ROLE "+role+" PASSWORD '"+password+"';") {
			t.Errorf("%s signs in as %s with a password that development-passwords.sql does not set", service, at.User.Username())
		}
		if at.Hostname() != "postgres" || at.Path != "/"+*p.Services["postgres"].Environment["POSTGRES_DB"] {
			t.Errorf("%s uses the database at %s", service, at.Redacted())
		}
	}
}

// A password that is in the repository says so.
func TestWhatIsSecretElsewhereIsMarkedAsForDevelopment(t *testing.T) {
	open := []string{deploytest.Read(t, "deploy/compose/development-http-token")}
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
