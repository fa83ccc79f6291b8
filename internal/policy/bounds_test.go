package policy_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

const maxMemory = 256 << 20

// staysWithinMemory fails the test if the heap of the process was ever larger than any policies file may make it.
func staysWithinMemory(tb testing.TB) {
	tb.Helper()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapSys > maxMemory {
		tb.Errorf("the heap had %d MiB", m.HeapSys>>20)
	}
}

// numbered repeats a line; # in it is the number of the repetition.
func numbered(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// mine is a file with one policy that has these rules.
func mine(rules string) string {
	return "policies:\n- {name: mine, base: 1m, max: 2m, maxRetries: 1, rules: [" + rules + "]}\n"
}

// chain is a file in which p0 extends tiss, and each of n further policies the one before.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("policies:\n- {name: p0, extends: tiss}\n")
	for i := range n {
		fmt.Fprintf(&b, "- {name: p%d, extends: p%d}\n", i+1, i)
	}
	return b.String()
}

func TestFileBeyondABoundIsRefusedByName(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want string
	}{
		"20,000 policies in 669 KB": {
			"policies:\n" + numbered(20_000, "- {name: pol#, extends: tiss}\n"), "test.yaml:202: the file has 20000 policies but may have at most 200",
		},
		"a chain of 3,000": {chain(3_000), "the file has 3001 policies but may have at most 200"},
		"a chain of 199":   {chain(199), "policy p10: extends has 11 policies above this one but may have at most 10: extend one that is nearer to the first"},
		"501 rules": {
			mine(numbered(501, "{id: r#, class: TRANSIENT, contains: [A#]},")),
			"policy mine: the policy has 501 rules but may have at most 500: rules and inDoubt together, 0 of them inherited",
		},
		"501 rules with the parent's": {
			mine(numbered(499, "{id: r#, class: TRANSIENT, contains: [A#]},")) + "- {name: child, extends: mine, inDoubt: [{id: a, contains: [B]}, {id: b, contains: [C]}]}\n",
			"test.yaml:3: policy child: the policy has 501 rules but may have at most 500: rules and inDoubt together, 499 of them inherited",
		},
		"101 fields":          {"policies: [{" + numbered(101, "a#: 1, ") + "}]", "policies[0] has 101 fields but may have at most 100"},
		"the name of a field": {"policies: [{" + strings.Repeat("a", 101) + ": 1}]", "the name of a field is too long: aaaa"},
		"values":              {"policies: [{name: a, rules: [" + strings.Repeat("a,", 50_000) + "]}]", "more than 50000 values"},
		"bytes of aliases": {
			"policies: [{name: &a " + strings.Repeat("a", 500_000) + ", rules: [" + strings.Repeat("*a ,", 17) + "]}]", "or 8388608 bytes",
		},
		"signs of YAML":  {"policies: [{" + strings.Repeat("a,", 250_000) + "}]", "it has 250002 lines, commas, brackets, dashes and question marks but may have at most 200000"},
		"bytes":          {strings.Repeat("# a long comment\n", 70_000), "the file has more than 1048576 bytes"},
		"a long pattern": {mine("{id: a, class: TRANSIENT, pattern: '" + strings.Repeat("a", 1001) + "'}"), "must be a regular expression of 1 to 1000 characters"},
		"long patterns": {
			mine(numbered(12, "{id: r#, class: TRANSIENT, pattern: '"+strings.Repeat(".{1000}", 9)+"'},")),
			"policy mine: rule r11: the patterns of the file have more than 100000 steps up to here",
		},
		"a long word":       {mine("{id: a, class: TRANSIENT, contains: [" + strings.Repeat("a", 301) + "]}"), "at most 300 characters"},
		"a long code":       {mine("{id: a, class: TRANSIENT, http: [" + strings.Repeat("5", 21) + "x]}"), "must be a code, such as 503 or 5xx"},
		"a prefix for tags": {"%TAG !a! tag:" + strings.Repeat("a", 500_000) + "\n---\npolicies: [" + strings.Repeat("!a!b c,", 50_000) + "]", "%TAG is not read: leave it out"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.Parse("test.yaml", []byte(tt.text))
			check.Fails(t, err, tt.want)
			staysWithinMemory(t)
		})
	}
}

func TestFileAtABoundIsTaken(t *testing.T) {
	for name, text := range map[string]string{
		"200 policies":           "policies:\n" + numbered(200, "- {name: p#, extends: tiss}\n"),
		"ten policies above one": chain(9),
		"500 rules":              mine(numbered(499, "{id: r#, class: TRANSIENT, contains: [A#]},")) + "- {name: child, extends: mine, rules: [{id: a, class: TRANSIENT, contains: [B]}]}\n",
	} {
		if _, err := policy.Parse("test.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func faults(t *testing.T, text string) policy.Faults {
	t.Helper()
	_, err := policy.Parse("test.yaml", []byte(text))
	all, _ := errors.AsType[policy.Faults](err)
	return all
}

func TestMoreThanAHundredFaultsAreCounted(t *testing.T) {
	all := faults(t, "policies:\n"+numbered(150, "- {name: A#, extends: tiss}\n"))
	check.Same(t, 101, len(all), "faults")
	check.Same(t, "test.yaml: and 50 more faults", all[100].Error(), "the last one")
	check.Same(t, 1, len(faults(t, chain(199))), "faults of a chain that is too long, of which each policy has too many above")
}

func TestMoreThanAHundredFindingsAreCounted(t *testing.T) {
	const extra = 30
	text := mine("{id: first, class: TRANSIENT, contains: [A]}," + numbered(100+extra, "{id: r#, class: TRANSIENT, contains: [A, B#-]},"))
	for _, tt := range []struct {
		last string
		want policy.Severity
	}{
		{"", policy.SevereInformation},
		{"{id: last, class: PERMANENT, contains: [A]},", policy.SevereWarning},
	} {
		set := parse(t, strings.Replace(text, "]}\n", tt.last+"]}\n", 1))
		rest := extra
		if tt.last != "" {
			rest++
		}
		for _, findings := range [][]policy.Finding{set.Lint("mine", 0), set.LintAll("test.yaml", 0)} {
			last := findings[len(findings)-1]
			check.Same(t, 101, len(findings), "findings")
			check.Same(t, fmt.Sprintf("%s: and %d more findings", tt.want, rest+1), fmt.Sprintf("%s: %s", last.Severity, last.Problem), "the last one")
		}
	}
}

// The largest files that are taken: what they hold is bounded, and so are the memory and the time to read and lint them.
func TestLargestFilesStayWithinMemory(t *testing.T) {
	words := numbered(200, "@-#,")
	rules := numbered(20, "{id: r#, class: TRANSIENT, terms: {table: terms, sign: [away]}, unless: {terms: {table: terms, sign: [busy]}}},")
	const policies = "- {name: p#, base: 1m, max: 2m, maxRetries: 1, rules: "
	for name, text := range map[string]string{
		"words of two rules": mine(numbered(2, "{id: r#, class: TRANSIENT, contains: ["+numbered(24_000, "z#z,")+"]},")),
		"words of 100 rules": mine(numbered(100, "{id: r#, class: TRANSIENT, contains: ["+strings.ReplaceAll(words, "@", "q#")+"]},")),
		"inherited rules": mine(numbered(499, "{id: r#, class: TRANSIENT, contains: ["+numbered(20, "z#z,")+"]},")) +
			numbered(150, "- {name: p#, extends: mine, rules: [{id: own, class: TRANSIENT, contains: [X]}]}\n"),
		"rules of tables":   "policies:\n" + numbered(60, policies+"["+rules+"]}\n"),
		"one list of rules": "policies:\n- {name: p, extends: tiss, rules: &r [" + rules + "]}\n" + numbered(60, policies+"*r}\n"),
		"patterns":          mine(numbered(90, "{id: r#, class: TRANSIENT, pattern: 'a#.{1000}'},")),
	} {
		t.Run(name, func(t *testing.T) {
			set := parse(t, text)
			set.LintAll("test.yaml", time.Hour)
			staysWithinMemory(t)
		})
	}
}

// Two rules of the same 5,000 words are more than the lint compares: it has no finding, and takes no minutes.
func TestLintComparesABoundedNumberOfWords(t *testing.T) {
	for number, want := range map[int]bool{100: true, 5_000: false} {
		set := parse(t, mine(numbered(2, "{id: r#, class: TRANSIENT, contains: ["+strings.TrimSuffix(numbered(number, "z#z,"), ",")+"]},")))
		found := slices.ContainsFunc(set.Lint("mine", 0), func(f policy.Finding) bool { return f.Check == "never-matches" })
		check.Same(t, want, found, "a finding about %d words", number)
	}
}

// heap returns how much of the heap is in use after a collection, and how much was ever allocated.
func heap() (used, allocated int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), int(m.TotalAlloc)
}

// Each policy had its own compiled rules, up to 2 MiB of them, and a reload needed twice the memory. Now all that a reload allocates is
// 7 MiB, twice as much under the race detector. A worker with these policies has 60 MiB, so that it grows by less than a fifth even
// if nothing is freed.
func TestPoliciesThatExtendTissShareItsRules(t *testing.T) {
	const most, reload = 20 << 20, 16 << 20
	for name, line := range map[string]string{
		"numbers": "- {name: p#, extends: tiss, maxRetries: 7}\n",
		"a rule":  "- {name: p#, extends: tiss, maxRetries: 7, rules: [{id: ours.closed, class: TRANSIENT, contains: [PORTAL CLOSED #]}]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			policies := "policies:\n" + numbered(200, line)
			file := filepath.Join(t.TempDir(), "policies.yaml")
			write(t, file, policies)
			policy.BuiltIn("tiss").Classify("x") // so that the tables are there
			without, _ := heap()
			store, err := policy.Open(file)
			check.Must(t, err)
			with, before := heap()
			write(t, file, strings.ReplaceAll(policies, "Retries: 7", "Retries: 6"))
			check.Must(t, store.Reload())
			again, after := heap()
			t.Logf("200 policies need %d KiB; a reload allocates %d KiB and leaves %d KiB", (with-without)>>10, (after-before)>>10, (again-with)>>10)
			if p, _ := store.Current().Get("p199"); p.MaxRetries != 6 {
				t.Errorf("%d retries after the reload", p.MaxRetries)
			}
			if with-without > most || after-before > reload || again-with > (with-without)/5 {
				t.Error("that is too much memory")
			}
		})
	}
}

// FuzzMemory reads files of up to 1 MiB that repeat a piece. None takes more memory than another file may, be it taken or not.
func FuzzMemory(f *testing.F) {
	const start = "policies: [{name: a, base: 1m, max: 2m, maxRetries: 1, rules: ["
	const most, quick = 1 << 20, 1 << 17
	for _, seed := range []struct {
		head, piece, tail string
		size              uint32
	}{
		{"policies: [", "a,", "]", most},
		{"policies: [{", "a,", "}]", most},
		{"policies:\n", "- a #b\n", "", most},
		{"", "? abc\n", "", most},
		{"policies:\n", "- a #bcdefgh\n", "", most},
		{start, "{id: a, class: TRANSIENT, terms: {table: terms, sign: [away]}},", "]}]", most / 2},
		{"policies: [{name: ", "a", "}]", most},
		{start, "{id: a, class: TRANSIENT, pattern: '[a-z]{1000}'},", "]}]", quick},
		{start, `{id: a, class: TRANSIENT, pattern: '\pL{100}('},`, "]}]", quick},
		{start + "&a {" + strings.Repeat("a", 100) + ": x}, ", "*a  ,", "]}]", quick},
		{start + "&a !" + strings.Repeat("a", 50_000) + " x, ", "*a  ,", "]}]", quick},
		{start + "&a " + strings.Repeat("a", 50_000) + ", ", "*a  ,", "]}]", quick},
		{"policies: [", "&abcde x,", "]", quick},
		{"policies:\n", "  -   -   -\n", "", quick},
	} {
		f.Add(seed.head, seed.piece, seed.tail, seed.size)
	}
	f.Fuzz(func(t *testing.T, head, piece, tail string, size uint32) {
		left := min(int(size), most) - len(head) - len(tail)
		if left < 0 || piece == "" {
			return
		}
		set, err := policy.Parse("fuzz.yaml", []byte(head+strings.Repeat(piece, left/len(piece))+tail))
		if err == nil {
			set.LintAll("fuzz.yaml", time.Hour)
		}
		staysWithinMemory(t)
	})
}
