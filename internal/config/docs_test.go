package config_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

const (
	document = "../../docs/configuration.md"
	begin    = "<!-- settings: made by `go test ./internal/config -update` from the tags in internal/config/config.go -->\n"
	end      = "<!-- end of settings -->\n"
)

// table is the settings.
func table() string {
	var b strings.Builder
	b.WriteString("\n| name | default | allowed | meaning |\n|---|---|---|---|\n")
	for _, s := range new(config.Config).Settings() {
		if s.Default != "" {
			s.Default = "`" + s.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, s.Default, s.Want, s.About)
	}
	return b.String() + "\n"
}

func TestTheDocumentationListsEverySettingAsItIs(t *testing.T) {
	content, err := os.ReadFile(document)
	check.Must(t, err)
	before, rest, found := strings.Cut(string(content), begin)
	got, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has lost the marks around its table:\n%s%s", document, begin, end)
	}
	if *update {
		check.Must(t, os.WriteFile(document, []byte(before+begin+table()+end+after), 0o600))
		return
	}
	check.Same(t, table(), got, "%s, which go test ./internal/config -update rewrites", document)
}
