package helm_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// value is one value of values.yaml that is documented: its path, its default and its comment.
type value struct{ path, normal, meaning string }

// whole are the values that are documented as one, though they have parts.
var whole = []string{"resources", "startupProbe", "livenessProbe", "readinessProbe", "worker.jobTypes", "topologySpreadConstraints", "metrics.dashboard.labels"}

// documented reads values.yaml with its comments.
func documented(t *testing.T) []value {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(deploytest.Read(t, "deploy/helm/analyze-retry/values.yaml")), &document); err != nil {
		t.Fatal(err)
	}
	var found []value
	var walk func(prefix string, node *yaml.Node)
	walk = func(prefix string, node *yaml.Node) {
		for i := 0; i < len(node.Content); i += 2 {
			key, content := node.Content[i], node.Content[i+1]
			path := strings.TrimPrefix(prefix+"."+key.Value, ".")
			if content.Kind == yaml.MappingNode && len(content.Content) > 0 && !slices.Contains(whole, path) {
				if key.HeadComment != "" {
					t.Errorf("%s has a comment that is in no table; it belongs to its parts", path)
				}
				walk(path, content)
				continue
			}
			// A comment at the top of the file ends with a blank line.
			comment := key.HeadComment[strings.LastIndex(key.HeadComment, "\n\n")+1:]
			found = append(found, value{path, oneLine(t, content), sentence(comment)})
		}
	}
	walk("", document.Content[0])
	return found
}

// oneLine is a value as JSON.
func oneLine(t *testing.T, node *yaml.Node) string {
	t.Helper()
	var decoded any
	if err := node.Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(decoded)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sentence takes the # and the line breaks out of a comment.
func sentence(comment string) string {
	return strings.Join(strings.Fields(regexp.MustCompile(`(?m)^# ?`).ReplaceAllString(comment, "")), " ")
}

func TestTheReadmeOfTheChartExplainsEveryValue(t *testing.T) {
	path := filepath.Join(chartDir, "README.md")
	readme := deploytest.Read(t, "deploy/helm/analyze-retry/README.md")
	const begin, end = "<!-- values: made by `go test ./helm -update` from values.yaml -->\n", "<!-- end of values -->"
	before, rest, found := strings.Cut(readme, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks %q or %q", path, begin, end)
	}
	var table strings.Builder
	table.WriteString("\n| value | default | meaning |\n|---|---|---|\n")
	for _, v := range documented(t) {
		if !strings.HasSuffix(v.meaning, ".") && !strings.HasSuffix(v.meaning, ":") && !strings.HasSuffix(v.meaning, ".yaml") {
			t.Errorf("%s has no comment that is a sentence: %q", v.path, v.meaning)
		}
		fmt.Fprintf(&table, "| `%s` | `%s` | %s |\n", v.path, v.normal, strings.ReplaceAll(v.meaning, "|", `\|`))
	}
	golden(t, path, before+begin+table.String()+"\n"+end+after)
}

func TestTheSchemaIsStrictAndMatchesTheValues(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal([]byte(deploytest.Read(t, "deploy/helm/analyze-retry/values.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, node map[string]any, defaults map[string]any)
	walk = func(path string, node map[string]any, defaults map[string]any) {
		if reference, ok := node["$ref"].(string); ok {
			node = at[map[string]any](schema, "$defs", strings.TrimPrefix(reference, "#/$defs/"))
		}
		properties, ok := node["properties"].(map[string]any)
		if !ok {
			return
		}
		if node["additionalProperties"] != false {
			t.Errorf("%s: the schema takes any further key", path)
		}
		for name, property := range properties {
			// Helm's own; and the one limit that is left out on purpose.
			if name == "global" || path+"."+name == ".resources.limits.cpu" {
				continue
			}
			content, has := defaults[name]
			if !has {
				t.Errorf("%s.%s is in the schema, but not in values.yaml", path, name)
			}
			below, _ := content.(map[string]any)
			walk(path+"."+name, property.(map[string]any), below)
		}
	}
	walk("", schema, load(t).Values)
}
