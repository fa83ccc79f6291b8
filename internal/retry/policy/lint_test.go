package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

// lint returns the findings about the policies of a file. Its first line may be a comment that states an outage.
func lint(t *testing.T, file string) text.Findings {
	t.Helper()
	content, err := os.ReadFile(file)
	check.Must(t, err)
	var outage time.Duration
	first, _, _ := strings.Cut(string(content), "\n")
	if stated, found := strings.CutPrefix(first, "# outage: "); found {
		if outage, err = retry.ParseDuration(stated); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Base(file)
	set, err := policy.Parse(name, content)
	check.Must(t, err)
	return set.Lint(outage)
}

func TestEachCheckFiresInItsFile(t *testing.T) {
	var got strings.Builder
	for _, file := range glob(t, "testdata/lint/*.yaml") {
		wanted, _, _ := strings.Cut(filepath.Base(file), ".")
		findings := lint(t, file)
		if fires := slices.ContainsFunc(findings, func(f text.Finding) bool { return f.Check == wanted }); !fires && wanted != "good" {
			t.Errorf("%s: there is no finding %s", file, wanted)
		}
		if wanted == "good" && len(findings) > 0 {
			t.Errorf("a good policy has %+v", findings)
		}
		for _, f := range findings {
			fmt.Fprintf(&got, "%s %s: %s. %s\n", f.Severity, f.Check, f.OneLine(), f.Advice)
		}
		got.WriteString("\n")
	}
	checkGolden(t, "testdata/lint.golden", got.String())
}

func TestLintFindsNothingInTheBuiltInPolicies(t *testing.T) {
	for _, file := range glob(t, "builtin/*.yaml") {
		check.Same(t, nil, lint(t, file), "findings in %s", file)
	}
}

func TestEveryRuleOfTissDecidesAKnownText(t *testing.T) {
	known, err := os.ReadFile("known.txt")
	check.Must(t, err)
	tiss, seen := policy.BuiltIn("tiss"), map[string]bool{}
	for line := range strings.Lines(string(known)) {
		seen[tiss.Classify(strings.TrimSpace(line)).ID] = true
	}
	for _, r := range tiss.Rules {
		if !seen[r.ID] {
			t.Errorf("no known text is decided by %s", r.ID)
		}
	}
}

// pieces are what texts are made of that conditions find something in.
var pieces = []string{
	"HTTP 503 ", "HTTP/1.1 500 Internal Server Error\n", "status code 404; ", "erro 1308 - guia ja apresentada. ", "glosa 1011, ", "timeout ",
	"<mensagemErro>acesso negado</mensagemErro> ", "<codigoGlosa>1011</codigoGlosa> ", "sistema fora do ar. ", "A", "b1 ", "1A ", "connection refused ",
	"java.net.SocketTimeoutException: ", "SMTP error: 550 5.1.1 no such user\n", "421 4.7.0 try again later\n", "<faultcode>soap:Server</faultcode>",
}

// drawCondition returns a condition as a file has it, with one or two of the settings, and of few items: two of them are often
// alike.
func drawCondition(t *rapid.T, label string, settings []string) string {
	drawn := func(of ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 1, min(2, len(of)), rapid.ID[string]).Draw(t, label)
	}
	listed := func(of ...string) string { return "[" + strings.Join(drawn(of...), ", ") + "]" }
	in := func() string { return rapid.SampledFrom([]string{"", ", in: answer"}).Draw(t, label) }
	parts := map[string]func() string{
		"contains":  func() string { return listed("A", "a", "B1", "A b1", "timeout", `"50"`) },
		"http":      func() string { return listed("500", "503", "404", "5xx", "50x") },
		"smtp":      func() string { return listed("550", "55x", "5.x.x", "421", "4.x.x") },
		"soapFault": func() string { return listed("Server", "Client") },
		"terms": func() string {
			return "{table: terms, sign: " + listed("away", "timeout", "refused", "connect") + in() + "}"
		},
		"glosa": func() string {
			of := rapid.SampledFrom([]string{"", ", class: PERMANENT", ", class: TRANSIENT", ", only: [1011]", ", only: [1011, 1308]", ", except: [1308]"}).Draw(t, label)
			return "{table: tabela-38" + of + in() + "}"
		},
	}
	var condition []string
	for _, setting := range drawn(settings...) {
		condition = append(condition, setting+": "+parts[setting]())
	}
	return strings.Join(condition, ", ")
}

// A rule that never decides, according to the lint, must decide no text at all.
func TestRuleFoundNeverToDecideDecidesNoText(t *testing.T) {
	dead, alive := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("policies:\n  - name: mine\n    base: 1m\n    max: 2m\n    maxRetries: 2\n    rules:\n")
		all := []string{"contains", "http", "smtp", "soapFault", "terms", "glosa"}
		settings := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 2, rapid.ID[string]).Draw(t, "settings")
		for i := range rapid.IntRange(2, 8).Draw(t, "rules") {
			class := rapid.SampledFrom([]string{"TRANSIENT", "PERMANENT"}).Draw(t, "class")
			fmt.Fprintf(&b, "      - {id: r%d, class: %s, %s", i, class, drawCondition(t, "condition", settings))
			if rapid.Bool().Draw(t, "has unless") {
				b.WriteString(", unless: {" + drawCondition(t, "unless", settings) + "}")
			}
			b.WriteString("}\n")
		}
		set, err := policy.Parse("random.yaml", []byte(b.String()))
		check.Must(t, err)
		never := map[string]string{}
		for _, f := range set.Lint(0) {
			if _, rule, of := strings.Cut(f.Subject.String(), ", rule "); of && strings.Contains(f.What.String(), "the rule never") {
				never[rule] = f.What.String()
			}
		}
		p, _ := set.Get("mine")
		for range 30 {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 4).Draw(t, "text"), "")
			rule := p.Classify(text).ID
			if problem, said := never[rule]; said {
				t.Fatalf("%q: %s decides it, although %s\n%s", text, rule, problem, b.String())
			}
			if rule != retry.RuleUnknown {
				alive++
			}
		}
		dead += len(never)
	})
	if dead < 20 || alive < 500 {
		t.Errorf("%d rules were found never to decide, %d texts were decided", dead, alive)
	}
}
