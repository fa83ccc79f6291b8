package policy

import (
	"cmp"
	_ "embed" // the known texts
	"fmt"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
)

// knownTexts are error texts of insurers, hospital systems, programs and proxies, one a line: some for each rule of tiss, and
// some that it does not know. All data in them is invented.
//
//go:embed known.txt
var knownTexts string

// change is another class that a known text gets.
type change struct {
	from, to retry.Class
	rule     string
}

// known finds known texts that get another class than by the policy that is extended. A few that were unknown before are what
// rules of one's own are for.
func (l *linter) known() {
	if l.e.parent == nil {
		return
	}
	number, example := map[change]int{}, map[change]string{}
	all, changed, severity := 0, 0, SevereInformation
	for known := range strings.Lines(knownTexts) {
		known = strings.ReplaceAll(strings.TrimSpace(known), `\n`, "\n")
		before, now := l.e.parent.policy.Classify(known), l.p.Classify(known)
		all++
		if before.Class == now.Class {
			continue
		}
		c := change{before.Class, now.Class, now.RuleID}
		if changed++; before.Class != retry.Unknown {
			severity = SevereWarning
		}
		if number[c]++; number[c] == 1 {
			example[c] = known
		}
	}
	if changed == 0 {
		return
	}
	if changed > all/10 {
		severity = SevereWarning
	}
	var changes []string
	mostFirst := func(a, b change) int { return cmp.Or(number[b]-number[a], strings.Compare(example[a], example[b])) }
	for _, c := range slices.SortedFunc(maps.Keys(number), mostFirst) {
		changes = append(changes, fmt.Sprintf("%d %s to %s by %s, such as %s", number[c], c.from, c.to, c.rule, quoted(example[c])))
	}
	l.add(severity, "known-texts", "rules", fmt.Sprintf("of %d known texts %d change class: %s", all, changed, strings.Join(changes, "; ")),
		"if that is not meant, write more of the text in contains, or narrow the rule with unless")
}
