package cli_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/policy"
)

const nightFile = "testdata/night.yaml"

func TestFilePoliciesAreListedWithBuiltInOnes(t *testing.T) {
	want := append(policy.BuiltIns().Names(), "night", nightFile, "built-in", "20 retries, waits of 1 min 30 s to 120 min, 33 h in all")
	list := with().must(t, "policies", "--file", nightFile)
	checkScreen(t, list)
	contains(t, "policies", list, want...)
	with("RETRY_POLICIES_FILE="+nightFile, "ZEEBE_ADDRESS=zeebe.example:443").prints(t, []string{"policies"}, want...)
}

func TestAPolicyPrintedAsJSONCanBePutIntoAFile(t *testing.T) {
	for _, name := range append(policy.BuiltIns().Names(), "night") {
		var shown struct {
			Version string
			Policy  json.RawMessage
		}
		with().decodes(t, 0, &shown, "policies", name, "--file", nightFile)
		file := filepath.Join(t.TempDir(), "again.yaml")
		write(t, file, `{"policies": [`+string(shown.Policy)+`]}`)
		with().prints(t, []string{"policies", name, "--file", file}, "version "+shown.Version)
		checkScreen(t, with().must(t, "policies", name, "--file", nightFile))
	}
}

func TestPolicyIsShownWithItsTargets(t *testing.T) {
	with().prints(t, []string{"policies", "tiss"}, "Targets", "successAfterRetry >= 80% (RN-BIL-005 section VI)", "successAfterRetry >= 85% (RN-BIL-004 section VI)")
}

func TestLintExitCodeFollowsSeverity(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	const good = "policies:\n  - {name: a, base: 1m, max: 4m, maxRetries: 3, rules: [{id: x, class: TRANSIENT, contains: [X]}]}\n"
	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"nothing", []string{file("good.yaml", good)}, 0, "No findings."},
		{"the built-in policies", nil, 0, "cap-not-reached"},
		{"information", []string{file("information.yaml", strings.Replace(good, "4m", "8m", 1))}, 0, "information cap-not-reached"},
		{"a warning", []string{nightFile}, 1, "1 warning"},
		{"an outage", []string{file("outage.yaml", good), "--outage", "PT1H"}, 1, "an outage of 60 min outlasts all retries"},
		{"a broken file", []string{file("broken.yaml", strings.Replace(good, "base", "bass", 1))}, 1, "did you mean base?"},
		{"a missing file", []string{filepath.Join(dir, "missing.yaml")}, 2, "no such file"},
		{"a bad outage", []string{nightFile, "--outage", "long"}, 2, `--outage "long" is no duration`},
		{"no outage", []string{nightFile, "--outage", "0s"}, 2, "must be more than 0"},
		{"two files", []string{nightFile, nightFile}, 2, "one file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := with().run(t, append([]string{"policies", "lint"}, tt.args...)...)
			if code != tt.code || !strings.Contains(unwrapped(stdout+stderr), tt.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, tt.code, tt.says, stdout, stderr)
			}
		})
	}
}

func TestLintWithoutFileChecksTheConfiguredOne(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	write(t, broken, "polices: []\n")
	const builtIns = "looking at the built-in policies"
	for _, tt := range []struct {
		name, setting string
		args          []string
		code          int
		stdout, says  string
	}{
		{"a broken file", broken, nil, 1, "did you mean policies?\n", "looking at " + broken + ", which RETRY_POLICIES_FILE names\n"},
		{"as JSON", broken, []string{"--json"}, 1, `"check": "broken"`, "looking at " + broken},
		{"a good file", nightFile, nil, 1, "night.gone-too", "looking at " + nightFile},
		{"a file that is missing", broken + "x", nil, 2, "", "looking at " + broken + "x"},
		{"no file", "", nil, 0, "cap-not-reached", builtIns},
		{"another FILE", broken, []string{nightFile}, 1, "night.gone-too", "1 warning"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := with("RETRY_POLICIES_FILE="+tt.setting).run(t, append([]string{"policies", "lint"}, tt.args...)...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.says) {
				t.Errorf("exit code %d, want %d, %q and %q:\n%s%s", code, tt.code, tt.stdout, tt.says, stdout, stderr)
			}
			if named := len(tt.args) > 0 && tt.args[0] == nightFile; named == strings.Contains(stderr, "looking at") {
				t.Errorf("a FILE is named: %v, but it says %s", named, stderr)
			}
		})
	}
}

func TestUnknownPolicyOrBrokenFileIsUsageError(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	write(t, broken, "policies: 5\n")
	for want, args := range map[string][]string{
		`there is no policy "tis"`: {"policies", "tis", "--file", nightFile},
		broken + ":1":              {"policies", "--file", broken},
		"takes one name":           {"policies", "tiss", "fast"},
	} {
		with().fails(t, 2, want, args...)
	}
}

func TestTablesAreListedAndShownInFull(t *testing.T) {
	list := with().must(t, "policies", "tables")
	checkScreen(t, list)
	contains(t, "policies tables", list, "tabela-38   624", "Signs of terms:", "away, busy")
	with().prints(t, []string{"policies", "tables", "tabela-38"}, "1308", "GUIA JÁ APRESENTADA", "PERMANENT", "4.01.00")
	var shown struct {
		Name string
		Rows []map[string]string
	}
	with().decodes(t, 0, &shown, "policies", "tables", "http")
	if i := slices.IndexFunc(shown.Rows, func(row map[string]string) bool { return row["code"] == "503" }); shown.Name != "http" || i < 0 ||
		shown.Rows[i]["term"] != "Service Unavailable" || shown.Rows[i]["class"] != "TRANSIENT" {
		t.Errorf("%+v", shown)
	}
	with().fails(t, 2, `there is no table "nope"; there are tabela-38, http`, "policies", "tables", "nope")
}
