package modellint

import (
	"regexp"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// forms are those in which an expression is known to do what it is for, by the place where it stands, without
// needless blanks. Of a condition all parts that are known are taken away, of others the whole.
var forms = map[string]*regexp.Regexp{
	"timeDuration": whole(
		`"PT"\+string\([^./"]*\bbackoffMinutes\b[^./"]*\)\+"M"`,
		`"PT"\+string\((floor|ceiling)\([^"]*\bbackoffMinutes\b[^"]*\)\)\+"M"`,
		`"PT"\+string\(backoffMinutes\*60\)\+"S"`,
		`duration\("PT1M"\)\*backoffMinutes`,
		`backoffMinutes\*duration\("PT1M"\)`,
		`"PT0H"\+string\(backoffMinutes\)\+"M"`,
		`retryDecision\.backoffDuration`,
		`date and time\(nextRetryTime\)-now\(\)`,
	),
	"timeDate":       whole(`nextRetryTime`, `date and time\(nextRetryTime\)`),
	"correlationKey": whole(`claimId`, `string\(claimId\)`),
	"conditionExpression": regexp.MustCompile(strings.Join([]string{
		`\bshouldRetry(!?=(true|false|null)\b|\)|$| (and|or|then)\b)`,
		`\b(retryCount|maxRetries|backoffMinutes)([<>]=?|!?=)(\d+|retryCount|maxRetries|null)\b`,
		`\d([<>]=?|!?=)(retryCount|maxRetries|backoffMinutes)\b`,
		`\b(retryReason|errorClassification|originalError|nextRetryTime)!?=("[^"]*"|null\b)`,
		`\b(contains|starts with|matches)\((retryReason|errorClassification|originalError),"[^"]*"\)`,
		`\bretryDecision[.\w]*(!?=("[^"]*"|\d+|true\b|false\b|null\b)|[<>]=?\d+)`,
		`\bduration\("PT"\+string\(backoffMinutes(\+\d+)?\)\+"M"\)`,
		`\b(date and time\(nextRetryTime\)[<>]=?now\(\)|now\(\)[<>]=?date and time\(nextRetryTime\))`,
	}, "|")),
}

func whole(forms ...string) *regexp.Regexp {
	return regexp.MustCompile(`^(duration\()?(` + strings.Join(forms, "|") + `)\)?$`)
}

var (
	blanks = regexp.MustCompile(`\s*([^\pL\pN_\s])\s*`)
	// otherType is a comparison that FEEL answers by null.
	otherType = regexp.MustCompile(
		`\b(shouldRetry!?=["\d]|(retryCount|maxRetries|backoffMinutes)([<>]=?|!?=)["tf])`)
)

// compact returns an expression without needless blanks.
func compact(feel string) string {
	return blanks.ReplaceAllString(strings.Join(strings.Fields(feel), " "), "$1")
}

// unknown returns the names that an expression, or a text that should be one, has in a form that is not known.
func unknown(place, value string) []string {
	feel, is := expression(value)
	if is && forms[place] != nil {
		feel = forms[place].ReplaceAllString(compact(feel), " ")
	}
	return names(feel)
}

// first returns the first of some names that is among others, empty for none.
func first(some, others []string) string {
	at := slices.IndexFunc(some, func(name string) bool { return slices.Contains(others, name) })
	if at < 0 {
		return ""
	}
	return some[at]
}

// inTimers are the variables of an analysis, and of the failure before it, that a timer is not to read in
// another form.
var inTimers = []string{
	"backoffMinutes", "nextRetryTime", "retryDecision", "maxRetries", contract.RetryAfter,
	contract.LastSubmissionTime,
}

// timers finds timers that do not wait as decided by the analysis before, nil for none.
func (l *linter) timers(n, analysis *node) {
	if n.timer == nil {
		return
	}
	feel, is := expression(n.timer.value)
	read := names(feel)
	ours := first(unknown(n.timer.name, n.timer.value), inTimers)
	computed := slices.ContainsFunc(read, n.process.writes) && !slices.Contains(read, contract.RetryCount)
	switch {
	case ours != "":
		f := l.add(n, "timer-form", ours, text.Shorten(n.timer.value, 100))
		f.Line = n.timer.line
		known := slices.Concat(inTimers, []string{"PT", "string", "duration", "floor", "ceiling"})
		if is && slices.ContainsFunc(read, func(name string) bool { return !slices.Contains(known, name) }) {
			f.Severity = text.Warning // what it computes may be right
		}
	case analysis == nil || l.variableMisspelt(n, feel, n.timer.line):
	case first(read, inTimers) == "" && !computed && n.kind == "intermediateCatchEvent":
		l.add(n, "timer-fixed", quoted(analysis)).Line = n.timer.line
	}
}

// conditions finds conditions that read a result of the analysis in a form that is not known, or by a name that
// is none. decides reports whether they are asked right behind an analysis.
func (l *linter) conditions(n *node, decides bool) {
	for _, f := range n.flows {
		feel, is := expression(f.condition)
		ours := first(unknown("conditionExpression", f.condition), allResults)
		if ours == "" {
			if decides {
				l.variableMisspelt(n, feel, f.line)
			}
			continue
		}
		found := l.add(n, "condition-form", ours, text.Shorten(f.condition, 100))
		found.Line = f.line
		if is && !otherType.MatchString(compact(feel)) {
			found.Severity = text.Warning // what it computes may be right
		}
	}
}

// variableMisspelt finds a name that most likely means a variable of the worker's, where that would be read:
// nothing is written under it, and the expression reads none of ours.
func (l *linter) variableMisspelt(n *node, feel string, line int) bool {
	read := names(feel)
	if first(read, allResults) != "" {
		return false
	}
	for _, name := range read {
		for _, ours := range allResults {
			near := strings.EqualFold(name, ours) || text.OneSlip(name, ours)
			if near && !n.process.writes(name) {
				l.add(n, "variable-misspelt", name, ours).Line = line
				return true
			}
		}
	}
	return false
}

// redriveMessage is the message by which the worker has a claim sent again.
const redriveMessage = "redrive-claim"

// messages finds events that wait for the worker's message, but that it does not reach: of those that wait
// for the same one the first.
func (l *linter) messages(n *node) {
	feel, _ := expression(n.key)
	key := n.process.file + " " + n.message + " " + n.key
	if l.said[key] {
		return
	}
	l.said[key] = true
	switch {
	case misspelt(n.message, []string{redriveMessage}) != "":
		l.add(n, "message-misspelt", n.message, redriveMessage)
	case n.message == redriveMessage && (unknown("correlationKey", n.key) != nil || names(feel) == nil):
		f := l.add(n, "correlation-key", n.key)
		if slices.ContainsFunc(names(feel), n.process.writes) {
			f.Severity = text.Warning // it may hold the claim's id
		}
	}
}

// misspelt returns the known name that another one was most likely meant to be, empty for none or if it is one:
// one slip, other signs between the words, or words between the outer ones left out. A number at the end is no
// slip, but another version.
func misspelt(name string, known []string) string {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune("-_. ", r) })
	}
	unnumbered := func(s string) string { return strings.TrimRight(s, "0123456789") }
	a := words(name)
	if slices.Contains(known, name) {
		return ""
	}
	for _, ours := range known {
		b := words(ours)
		plain, other := strings.Join(a, ""), strings.Join(b, "")
		slip := text.OneSlip(plain, other) && unnumbered(plain) != unnumbered(other)
		added := slices.ContainsFunc(a, func(word string) bool { return !slices.Contains(b, word) })
		shorter := len(a) > 1 && !added && a[0] == b[0] && a[len(a)-1] == b[len(b)-1]
		if plain == other || slip || shorter {
			return ours
		}
	}
	return ""
}

// writes reports whether a mapping of the process writes a variable.
func (p *process) writes(variable string) bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool {
		_, is := n.output(variable)
		return is
	})
}
