package modellint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

const (
	minutesFeel = `="PT" + string(backoffMinutes) + "M"`
	exactFeel   = `=duration(retryDecision.backoffDuration)`
	incident    = "The process is an incident at the timer of every retry."
)

var (
	plainPlus = regexp.MustCompile(`"PT?"\s*\+\s*backoffMinutes\b`)
	// unitOfText finds "PT" + string(...) + "M", with the parts that can be wrong: what is before, inside and after.
	unitOfText   = regexp.MustCompile(`"(PT?)"\s*\+\s*string\(([^()]*backoffMinutes[^()]*)\)(?:\s*\+\s*"([A-Z])")?`)
	fraction     = regexp.MustCompile(`/|\*\s*\d*\.\d|\d\.\d+\s*\*`)
	numberAsText = regexp.MustCompile(`\bduration\(\s*backoffMinutes\s*\)`)
	dateAsPeriod = regexp.MustCompile(`^\s*(?:duration\(\s*)?nextRetryTime\s*\)?\s*$`)
)

// timers finds timers that do not wait as the analysis decided.
func (l *linter) timers(n *node) {
	t := n.timer
	if t == nil {
		return
	}
	feel, is := expression(t.text)
	if !is {
		if slices.ContainsFunc(append(slices.Clone(allResults), contract.RetryAfter), func(v string) bool { return strings.Contains(t.text, v) }) {
			l.timer(n, text.Error, "the timer is a plain text, as \"=\" is missing before the expression", "The broker refuses the model, or each timer is an incident.", "="+t.text)
			return
		}
		l.constantTimer(n)
		return
	}
	if l.timerText(n, t.kind, feel) {
		return
	}
	l.misspeltTimer(n, feel)
}

// timer adds a finding about a timer with the expression that is right.
func (l *linter) timer(n *node, severity text.Severity, problem, effect, right string) {
	l.add(n, severity, ruleTimer, text.Finding{Line: n.timer.line, What: problem, Effect: effect, Fix: timerFix(right)})
}

// timerText checks an expression that reads a variable of the analysis; done reports whether it does.
func (l *linter) timerText(n *node, kind, feel string) (done bool) {
	minutes, date := reads(feel, "backoffMinutes"), reads(feel, "nextRetryTime")
	literal := strings.Contains(feel, `"P`) || strings.Contains(feel, "duration(")
	unit := unitOfText.FindStringSubmatch(feel)
	switch {
	case kind == "timeDate" && minutes:
		l.timer(n, text.Error, "backoffMinutes is a number of minutes, but the timer wants a date", incident, minutesFeel)
	case kind == "timeDate":
		return date
	case dateAsPeriod.MatchString(feel):
		l.add(n, text.Error, ruleTimer, text.Finding{
			Line: n.timer.line, What: "nextRetryTime is an instant, but the timer wants a duration", Effect: incident,
			Advice: "Wait for the duration of the decision, which one clock measures. (A date event, <bpmn:timeDate>=nextRetryTime</bpmn:timeDate>, works too.)",
			Fix:    timerFix(minutesFeel),
		})
	case minutes && !literal || numberAsText.MatchString(feel):
		l.timer(n, text.Error, `backoffMinutes is a number, but the timer wants a duration: "PT" is missing`, incident, minutesFeel)
	case plainPlus.MatchString(feel):
		l.timer(n, text.Error, "a text and the number backoffMinutes cannot be added: string() is missing", incident, minutesFeel)
	case unit != nil && unit[3] == "":
		l.timer(n, text.Error, `the duration has no unit: "M" is missing`, incident, minutesFeel)
	case unit != nil && unit[1]+unit[3] != "PTM" && strings.TrimSpace(unit[2]) == "backoffMinutes": // what is computed may fit the unit
		l.timer(n, text.Error, fmt.Sprintf("backoffMinutes counts minutes, but %s...%s is %s", unit[1], unit[3], unitWord(unit[1]+unit[3])),
			"The claim is sent again too early or too late.", minutesFeel)
	case unit != nil && unit[1]+unit[3] == "PTM" && fraction.MatchString(unit[2]):
		l.timer(n, text.Error, "the minutes can be a fraction, and a duration such as PT5.25M is none",
			"The process is an incident at the timer of each retry whose minutes are no whole number.", `="PT" + string(floor(`+strings.TrimSpace(unit[2])+`)) + "M"`)
	case minutes:
		l.shortWaits(n)
	case !date && !reads(feel, "retryDecision") && (reads(feel, contract.RetryAfter) || reads(feel, contract.LastSubmissionTime)):
		l.timer(n, text.Error, "the timer reads what the insurer wrote, and not the decision",
			"A value that is absent or no duration is an incident; otherwise the policy's bounds do not hold.", minutesFeel)
	case !date && !reads(feel, "retryDecision") && reads(feel, "maxRetries"):
		l.timer(n, text.Error, "the timer reads maxRetries, which is a number of retries", "The claim is sent again too early or too late.", minutesFeel)
	case !date && reads(feel, contract.RetryCount):
		l.timer(n, text.Warning, "the timer counts with retryCount, and not with the decision", "The policy's waits, hints and bounds have no effect.", minutesFeel)
	default:
		return date || reads(feel, "retryDecision")
	}
	return true
}

func unitWord(unit string) string {
	switch unit {
	case "PTS":
		return "seconds"
	case "PTH":
		return "hours"
	case "PM":
		return "months"
	case "PD":
		return "days"
	default:
		return "another unit"
	}
}

// shortWaits finds a timer in whole minutes for a policy that waits for less than a minute.
func (l *linter) shortWaits(n *node) {
	task := n.process.afterAnalysis[n]
	if task == nil {
		return
	}
	for _, p := range l.tasks[task].policies {
		if shortest(p) < time.Minute || p.JobOverrides {
			l.timer(n, text.Warning, fmt.Sprintf("the timer waits whole minutes, but policy %s of %s has waits below a minute", p.Name, quoted(task)),
				"Every wait is rounded up to the next minute.", exactFeel)
			return
		}
	}
}

// shortest returns the shortest wait of a policy, an hour where it has none.
func shortest(p *retry.Policy) time.Duration {
	least := time.Hour
	for w := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		least = min(least, w.Shortest)
	}
	return least
}

// misspeltTimer finds a timer after an analysis that reads a variable which is nearly one of the analysis.
func (l *linter) misspeltTimer(n *node, feel string) {
	if n.process.afterAnalysis[n] == nil {
		return
	}
	for _, name := range names(feel) {
		if l.written(n.process, name) {
			return
		}
		if near := text.Nearest(name, []string{"backoffMinutes", "nextRetryTime", "retryDecision", "backoffDuration"}); near != "" {
			right := minutesFeel
			if near == "backoffDuration" || near == "retryDecision" {
				right = exactFeel
			}
			l.timer(n, text.Error, fmt.Sprintf("the analysis returns no %s; did you mean %s?", name, near), incident, right)
			return
		}
	}
	l.constantTimer(n)
}

// constantTimer finds the timer of the loop that waits without the decision.
func (l *linter) constantTimer(n *node) {
	task := n.process.afterAnalysis[n]
	if task == nil || n.kind != "intermediateCatchEvent" {
		return
	}
	feel, _ := expression(n.timer.text)
	for _, name := range names(feel) {
		if l.written(n.process, name) {
			return
		}
	}
	l.timer(n, text.Warning, fmt.Sprintf("the timer after %s does not read its decision", quoted(task)),
		"Every retry waits for the same time: the policy's waits, the insurer's Retry-After and the deadline have no effect.", minutesFeel)
}

// written reports whether a mapping of the process writes a variable.
func (l *linter) written(p *process, variable string) bool {
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
