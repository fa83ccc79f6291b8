// Package docs_test holds the documents to the facts they state.
package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestEveryDirectModuleHasAReason(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", "../go.mod").Output()
	check.Must(t, err)
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	check.Must(t, json.Unmarshal(out, &file))
	var required []string
	for _, m := range file.Require {
		if !m.Indirect {
			required = append(required, m.Path)
		}
	}
	page, err := os.ReadFile("decisions.md")
	check.Must(t, err)
	_, section, _ := strings.Cut(string(page), "\n## Modules\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var explained []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| .+ \\| .+ \\|$").FindAllStringSubmatch(section, -1) {
		explained = append(explained, row[1])
	}
	slices.Sort(required)
	slices.Sort(explained)
	if diff := cmp.Diff(required, explained); diff != "" {
		t.Errorf("go.mod and the table under Modules in decisions.md (-go.mod +table):\n%s", diff)
	}
}
