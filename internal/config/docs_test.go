package config_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

const (
	document = "../../docs/configuration.md"
	begin    = "<!-- settings: made by `go test ./internal/config -update` from the tags in internal/config/config.go -->\n"
	end      = "<!-- end of settings -->\n"
)

func table() string {
	var b strings.Builder
	b.WriteString("\n| name | default | allowed | meaning | other names |\n|---|---|---|---|---|\n")
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;")
	for _, d := range config.Docs() {
		def := "none"
		if d.Default != "" {
			def = "`" + d.Default + "`"
		}
		name := "`" + d.Name + "`"
		if d.File != "" {
			name += " or `" + d.File + "`"
		}
		others := ""
		if len(d.Aliases) > 0 {
			others = "`" + strings.Join(d.Aliases, "` `") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, def, cell.Replace(d.Allowed), cell.Replace(d.Meaning), others)
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
	if diff := cmp.Diff(table(), got); diff != "" {
		t.Errorf("%s is stale (-want +got); run go test ./internal/config -update:\n%s", document, diff)
	}
}
