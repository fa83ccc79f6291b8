package modellint

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// The forms of a timer that are known to wait as the analysis decided, without blanks.
var (
	durations = regexp.MustCompile(`^(duration\()?(` + strings.Join([]string{
		`"PT"\+string\([^./"]*\bbackoffMinutes\b[^./"]*\)\+"M"`,
		`"PT"\+string\((floor|ceiling)\([^"]*\bbackoffMinutes\b[^"]*\)\)\+"M"`,
		`"PT"\+string\(backoffMinutes\*60\)\+"S"`,
		`duration\("PT1M"\)\*backoffMinutes`,
		`backoffMinutes\*duration\("PT1M"\)`,
		`"PT0H"\+string\(backoffMinutes\)\+"M"`,
		`retryDecision\.backoffDuration`,
		`dateandtime\(nextRetryTime\)-now\(\)`,
	}, "|") + `)\)?$`)
	dates = regexp.MustCompile(`^(dateandtime\()?nextRetryTime\)?$`)
)

// inTimers are the variables of an analysis, and of the failure before it, that a timer is not to read in another form.
var inTimers = []string{
	"backoffMinutes", "nextRetryTime", "retryDecision", "maxRetries", contract.RetryAfter, contract.LastSubmissionTime,
}

// timers finds timers that do not wait as decided by the analysis before, nil for none.
func (l *linter) timers(n, analysis *node) {
	t := n.timer
	if t == nil {
		return
	}
	feel, is := expression(t.text)
	read := names(feel)
	forms := durations
	if t.kind == "timeDate" {
		forms = dates
	}
	ours := slices.IndexFunc(read, func(name string) bool { return slices.Contains(inTimers, name) })
	switch {
	case ours >= 0 && is && forms.MatchString(strings.Join(strings.Fields(feel), "")):
		if analysis != nil && slices.Contains(read, "backoffMinutes") {
			l.shortWaits(n, analysis)
		}
	case ours >= 0:
		f := l.add(n, "timer-form", read[ours], text.Shorten(t.text, 100))
		f.Line = t.line
		known := slices.Concat(inTimers, []string{"PT", "string", "duration", "floor", "ceiling"})
		if is && slices.ContainsFunc(read, func(name string) bool { return !slices.Contains(known, name) }) {
			f.Severity = text.Warning // what it computes may be right
		}
	case analysis == nil:
	case slices.Contains(read, contract.RetryCount) || !slices.ContainsFunc(read, n.process.writes):
		l.timerOfItsOwn(n, analysis, read)
	}
}

// timerOfItsOwn finds a timer behind an analysis that reads nothing of it, unless by a slip.
func (l *linter) timerOfItsOwn(n, analysis *node, read []string) {
	for _, name := range read {
		if near := text.Nearest(name, []string{"backoffMinutes", "nextRetryTime", "retryDecision"}); near != "" {
			l.add(n, "timer-misspelt", name, near).Line = n.timer.line
			return
		}
	}
	if n.kind == "intermediateCatchEvent" {
		l.add(n, "timer-fixed", quoted(analysis)).Line = n.timer.line
	}
}

// shortWaits finds a timer in whole minutes for a policy that waits for less than a minute.
func (l *linter) shortWaits(n, analysis *node) {
	for _, p := range l.tasks[analysis].policies {
		shortest := time.Hour
		for w := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
			shortest = min(shortest, w.Shortest)
		}
		if shortest < time.Minute || p.JobOverrides {
			l.add(n, "timer-of-minutes", p.Name, quoted(analysis)).Line = n.timer.line
			return
		}
	}
}

// writes reports whether a mapping of the process writes a variable.
func (p *process) writes(variable string) bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool {
		_, is := n.output(variable)
		return is
	})
}

// afterAnalysis returns, for each node that follows an analysis over gateways and events up to a timer or a task, that analysis.
func (l *linter) afterAnalysis(p *process) map[*node]*node {
	found := map[*node]*node{}
	for _, task := range p.nodes {
		if l.tasks[task] == nil {
			continue
		}
		walk(task.after(), func(n *node) bool {
			if found[n] != nil {
				return false
			}
			found[n] = task
			return !n.isActivity() && n.timer == nil
		})
	}
	return found
}
