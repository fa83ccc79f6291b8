package modellint

import (
	_ "embed" // for the forms
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

//go:embed forms.yaml
var formTexts []byte

// forms are those in which an expression is known to do what it is for, by the place where it stands, and
// others by what they do.
var forms = sync.OnceValue(func() map[string]*regexp.Regexp {
	var known map[string][]string
	if err := yaml.Unmarshal(formTexts, &known); err != nil {
		panic(err) // the file is part of the program
	}
	all := map[string]*regexp.Regexp{}
	for place, some := range known {
		all[place] = regexp.MustCompile(strings.Join(some, "|"))
	}
	return all
})

var blanks = regexp.MustCompile(`\s*([^\pL\pN_\s])\s*`)

// compact returns an expression without needless blanks.
func compact(feel string) string {
	return blanks.ReplaceAllString(strings.Join(strings.Fields(feel), " "), "$1")
}

// form finds an expression, or a text that should be one, that reads one of some variables in a form that is
// not known to work. Unless it is sure not to, what it computes may be right.
func (l *linter) form(n *node, mistake string, e entry, variables []string, sure bool) bool {
	feel, is := expression(e.value)
	unknown := compact(feel)
	if is && forms()[e.kind] != nil {
		unknown = forms()[e.kind].ReplaceAllString(unknown, " ")
	}
	read := names(unknown)
	ours := slices.IndexFunc(read, func(name string) bool { return slices.Contains(variables, name) })
	if ours < 0 {
		return false
	}
	f := l.add(n, mistake, read[ours], text.Shorten(e.value, 100))
	f.Line = e.line
	if is && !sure {
		f.Severity = text.Warning
	}
	return true
}

// inTimers are the variables of an analysis, and of the failure before it, that a timer is not to read in
// another form.
var inTimers = []string{
	"backoffMinutes", "nextRetryTime", "retryDecision", "maxRetries", contract.RetryAfter,
	contract.LastSubmissionTime,
}

// timers finds timers that do not wait as decided by the analysis before.
func (l *linter) timers(n *node) {
	read := n.timer.reads()
	known := append([]string{"string", "duration", "floor", "ceiling"}, inTimers...)
	other := func(name string) bool { return !slices.Contains(known, name) }
	decided := func(name string) bool {
		return slices.Contains(inTimers, name) || name != contract.RetryCount && n.process.writes(name)
	}
	// What is taken off leaves a wait under most policies.
	sure := !slices.ContainsFunc(read, other) && !strings.Contains(n.timer.value, "-")
	switch {
	case l.form(n, "timer-form", n.timer, inTimers, sure):
	case n.behind == nil || l.variableMisspelt(n, n.timer):
	case n.kind == "intermediateCatchEvent" && !slices.ContainsFunc(read, decided) && !n.behind.waitMissing():
		l.add(n, "timer-fixed", quoted(n.behind)).Line = n.timer.line
	}
}

// conditions finds conditions that read a result of the analysis in a form that is not known, or, right
// behind an analysis, by a name that is none; and those that lead the wrong claims to the wait.
func (l *linter) conditions(n *node) {
	for _, c := range n.flows {
		feel, _ := expression(c.value)
		wrong := forms()["otherType"].MatchString(compact(feel))
		if !l.form(n, "condition-form", c, results, wrong) && n.behind != nil {
			l.variableMisspelt(n, c)
		}
		l.opposite(n, c, compact(feel))
	}
}

// opposite finds a condition that leads the claims that are to stop to the wait, or those that are to be sent
// again to an end, or away from the next try to which all others go: of those of a gateway the first.
func (l *linter) opposite(n *node, c entry, feel string) {
	ways := reached([]*node{c.to}, (*node).works)
	waits := slices.ContainsFunc(ways, func(n *node) bool { return n.timer.kind != "" })
	ends := slices.ContainsFunc(ways, func(n *node) bool { return n.throwsError || n.records })
	person := func(n *node) bool { return n.kind == "userTask" }
	may := func(n *node) bool { return n.again() || len(n.Named("linkEventDefinition")) > 0 }
	goesOn := func(n *node, tries func(*node) bool) bool {
		return slices.ContainsFunc(reached([]*node{n}, person), tries)
	}
	others := func(f entry) bool { return f.kind == "" && goesOn(f.to, (*node).again) }
	away := !goesOn(c.to, may) && slices.ContainsFunc(n.flows, others)
	does := func(what string) bool { return forms()[what].MatchString(feel) }
	wrong := does("stops") && waits || does("retries") && !waits && (ends || away)
	if wrong && l.once(n.process.file, n.id, "opposite") {
		l.add(n, "condition-opposite", c.value).Line = c.line
	}
}

// variableMisspelt finds a name that most likely means a variable of the worker's, where that would be read:
// nothing is written under it, and the expression reads none of ours.
func (l *linter) variableMisspelt(n *node, e entry) bool {
	read := e.reads()
	if slices.ContainsFunc(read, func(name string) bool { return slices.Contains(results, name) }) {
		return false
	}
	for _, name := range read {
		if ours := misspelt(name, results); ours != "" && !n.process.writes(name) {
			l.add(n, "variable-misspelt", name, ours).Line = e.line
			return true
		}
	}
	return false
}

// named are the variables of which a name with one slip is found wherever it is read.
var named = slices.Concat(results, ofTheFailure, contract.OutcomeVariables()[2:], []string{"manualDecision"})

// slips finds names that are one slip from a variable of ours, or in another case, and that nothing writes.
// One with another sign between its words, or with more behind it such as retryCounts, can be the hospital's
// own. So can claimID, unless it is given to a task of the worker's, of which another one reads claimId.
func (l *linter) slips(n *node) {
	reads := func(n *node) bool {
		_, given := n.entry("input", contract.ClaimID)
		return (n.analyzes || n.records) && !given
	}
	known := named
	if (n.analyzes || n.records) && slices.ContainsFunc(n.process.nodes, reads) {
		known = append(slices.Clone(named), contract.ClaimID)
	}
	for _, name := range slices.Sorted(maps.Keys(n.variables)) {
		_, local := n.entry("input", name)
		at := slices.IndexFunc(known, func(ours string) bool {
			near := ours != contract.ClaimID && text.OneSlip(name, ours) // claimed is none
			return strings.EqualFold(name, ours) || near && !strings.HasPrefix(name, ours)
		})
		if at >= 0 && name != known[at] && !local && !strings.Contains(name, "_") && !n.process.writes(name) {
			l.add(n, "variable-misspelt", name, known[at]).Severity = text.Warning
		}
	}
}

// redriveMessage is the message by which the worker has a claim sent again.
const redriveMessage = "redrive-claim"

// messages finds events that wait for the worker's message, but that it does not reach: of those that wait
// for the same one the first.
func (l *linter) messages(n *node) {
	key, is := expression(n.key)
	switch {
	case !l.once(n.process.file, n.message, n.key):
	case misspelt(n.message, []string{redriveMessage}) != "":
		l.add(n, "message-misspelt", n.message, redriveMessage)
	case n.message == redriveMessage && (!is || !forms()["correlationKey"].MatchString(compact(key))):
		f := l.add(n, "correlation-key", n.key)
		may := func(name string) bool { return name == contract.ClaimID || n.process.writes(name) }
		if is && slices.ContainsFunc(names(key), may) {
			f.Severity = text.Warning // it may hold the claim's id
		}
	}
}

// misspelt returns the known name that another one was most likely meant to be, empty for none or if it is
// one: one slip, other signs between the words, or the word retry between two others left out.
func misspelt(name string, known []string) string {
	if slices.Contains(known, name) {
		return ""
	}
	letters := strings.NewReplacer("-", "", "_", "", ".", "", " ", "")
	near := func(ours string) bool {
		a, b := letters.Replace(name), letters.Replace(ours)
		return strings.EqualFold(a, b) || text.OneSlip(a, b)
	}
	for _, ours := range known {
		if near(ours) || near(strings.Replace(ours, "-retry-", "-", 1)) {
			return ours
		}
	}
	return ""
}

// Only what the rules need is read of FEEL: which variables an expression names, and its texts in quotes.

var (
	feelText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	feelName = regexp.MustCompile(`(\.\s*)?([\pL_][\pL\pN_]*)(\s*:)?`)
)

// expression returns the FEEL of an attribute; is reports whether it is one. Zeebe takes a value without "="
// as a plain text.
func expression(value string) (feel string, is bool) {
	feel, is = strings.CutPrefix(strings.TrimSpace(value), "=")
	return strings.TrimSpace(feel), is
}

// names returns the variables that an expression reads, functions among them: of a.b a, of {a: b} b.
func names(feel string) (found []string) {
	for _, name := range feelName.FindAllStringSubmatch(feelText.ReplaceAllString(feel, " "), -1) {
		if field := name[1]+name[3] != ""; !field {
			found = append(found, name[2])
		}
	}
	return found
}

// texts returns the texts in quotes of an expression.
func texts(feel string) (found []string) {
	for _, quoted := range feelText.FindAllString(feel, -1) {
		found = append(found, quoted[1:len(quoted)-1])
	}
	return found
}
