//go:build clients

package clients

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/feel"
)

// feelVersions are those of Camunda's FEEL engine that are compared.
var feelVersions = []string{"1.18.1", "1.19.3"}

// question is an expression with variables, as feel/Feel.java reads it.
type question struct {
	Expression string          `json:"expression"`
	Variables  json.RawMessage `json:"variables"`
	Now        time.Time       `json:"now"`
}

// answer is what Feel.java writes: a value, or an error of parsing or of evaluating.
type answer struct {
	Value json.RawMessage `json:"value"`
	Error string          `json:"error"`
}

func TestExpressionsGiveWhatCamundasEngineGives(t *testing.T) {
	t.Parallel()
	questions := ofModels(t)
	for _, version := range feelVersions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			for i, a := range ask(t, version, questions) {
				q := questions[i]
				e, err := feel.Parse(q.Expression)
				if err != nil {
					t.Fatalf("a model's expression is refused: %v", err)
				}
				variables, _ := feel.FromJSON(q.Variables).(map[string]any)
				got := feel.ToJSON(e.Eval(q.Now, func(name string) (any, bool) {
					v, ok := variables[name]
					return v, ok
				}))
				if a.Value == nil { // an error
					a.Value = []byte("null")
				}
				if canonical(t, got) != canonical(t, a.Value) {
					t.Errorf("%s\nwith %s\nis %s, not %s %s", q.Expression, q.Variables, got, a.Value, a.Error)
				}
			}
		})
	}
}

// canonical writes JSON so that values that are equal are written alike.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Errorf("%s is no JSON: %v", text, err)
	}
	var b strings.Builder
	for _, part := range inJSON.FindAllString(string(feel.ToJSON(v)), -1) {
		if n, ok := new(big.Rat).SetString(part); ok {
			part = n.RatString()
		}
		b.WriteString(part)
	}
	return b.String()
}

var inJSON = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|.`)

// ask lets Camunda's engine evaluate expressions.
func ask(t *testing.T, version string, questions []question) []answer {
	t.Helper()
	jars, classes := absolute(t, cache+"/feel-"+version), absolute(t, cache+"/feel-classes-"+version)
	install(t, "feel/pom.xml", jars, "mvn", "-q", "-B", "-ntp", "-f", "feel/pom.xml", "-Dfeel.version="+version,
		"dependency:copy-dependencies", "-DoutputDirectory="+jars)
	install(t, "feel/Feel.java", classes,
		"javac", "-encoding", "UTF-8", "-d", classes, "-cp", jars+"/*", "feel/Feel.java")
	var in bytes.Buffer
	for _, q := range questions {
		check.Must(t, json.NewEncoder(&in).Encode(q))
	}
	java := exec.CommandContext(t.Context(), "java", "-XX:TieredStopAtLevel=1", "-cp", classes+":"+jars+"/*", "Feel")
	java.Stdin = &in
	answers := output[answer](t, java)
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers
}

var asked = time.Date(2026, 11, 24, 12, 0, 0, 500e6, time.UTC)

// values are what a variable of a model may be.
var values = []string{
	`null`, `true`, `false`, `0`, `5`, `-3`, `2.5`, `100`, `""`, `" "`, `"RESUBMIT"`, `"CORRECT"`, `"ABANDON"`, `"PT5M"`,
	`"PT0S"`, `"5M"`, `"P1D"`, `"CHECK_STATUS"`, `"unimed"`, `"ação 😀"`, `[]`, `["unimed", 1]`, `{}`,
	`{"advice": "CHECK_STATUS", "claimId": "CLM-1-1"}`, `{"backoffDuration": "PT1H"}`,
	`{"a": "x", "b": " ", "c": null, "d": 5}`,
	`"` + strings.Repeat("ã", 70) + `"`, `"CLM-2026-107"`,
}

// times are what failedAt may be.
var times = []string{`null`, `"2026-11-24T12:00:00Z"`, `"2026-11-24T08:50:30.25-03:00"`, `"2026-11-24T09:00:00Z"`}

var (
	inModel = regexp.MustCompile(`="=([^"]*)"|>\s*=([^<]*)<`)
	words   = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9]*`)
)

// ofModels returns the expressions of all models: without variables, with each value for all variables, and with values
// that are drawn for each.
func ofModels(t *testing.T) []question {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	expressions := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".bpmn" {
			return err
		}
		model, err := os.ReadFile(path)
		for _, m := range inModel.FindAllSubmatch(model, -1) {
			expressions[html.UnescapeString(string(append(m[1], m[2]...)))] = true
		}
		return err
	})
	if err != nil || len(expressions) < 50 {
		t.Fatalf("%d expressions in models: %v", len(expressions), err)
	}
	var all []question
	for _, expression := range slices.Sorted(maps.Keys(expressions)) {
		all = append(all, question{expression, []byte(`{}`), asked})
		for i := range len(values) + 40 {
			variables := map[string]json.RawMessage{}
			for _, name := range words.FindAllString(expression, -1) {
				value := values[random.IntN(len(values))]
				if i < len(values) {
					value = values[i]
				}
				if name == "failedAt" {
					value = times[random.IntN(len(times))]
				}
				variables[name] = []byte(value)
			}
			all = append(all, question{expression, feel.ToJSON(variables), asked})
		}
	}
	return all
}
