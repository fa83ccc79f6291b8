package modellint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/input"
)

// jobTypes finds job types that the worker does not work, but was meant to.
func (l *linter) jobTypes(n *node) {
	if !n.isJob || isOutcome(n) {
		return
	}
	a := l.tasks[n]
	if a == nil {
		if ours := l.mistyped(n.jobType); ours != "" {
			l.add(n, text.Error, ruleLoop, text.Finding{
				What:   fmt.Sprintf("the job type %q is no job type of this worker, but nearly %s", n.jobType, ours),
				Effect: "No worker takes such jobs. The process waits at this task for ever, without an incident.",
				Fix:    `<zeebe:taskDefinition type="` + ours + `" retries="3" />`,
			})
		}
		return
	}
	_, byExpression := expression(n.jobType)
	for _, t := range a.types {
		if _, known := l.options.JobTypes[t]; known {
			continue
		}
		problem, example := fmt.Sprintf("the job type %q", t), t
		if byExpression {
			problem, example = fmt.Sprintf("the job type by expression begins with %q and", t), t+"..."
		}
		l.add(n, l.unworked(), rulePolicy, text.Finding{
			What:   fmt.Sprintf("%s has no policy: with these settings the worker takes %s", problem, enumerated(l.jobTypesDecided())),
			Effect: "A worker with these settings does not take such jobs. The process waits at this task for ever, without an incident.",
			Advice: "Add " + example + "=POLICY to RETRY_JOB_TYPES of the worker, and run lint with its settings.",
		})
	}
}

// unworked returns how severe a job type without a policy is: with the standard types, the settings are most likely not those
// of the worker.
func (l *linter) unworked() text.Severity {
	if maps.Equal(l.options.JobTypes, standardTypes) {
		return text.Information
	}
	return text.Warning
}

// headers finds faults of task headers.
func (l *linter) headers(n *node) {
	a := l.tasks[n]
	if a == nil {
		l.foreignHeaders(n)
		return
	}
	for _, f := range a.faults {
		h := n.header(f.Name)
		finding := text.Finding{
			Line:   h.line,
			What:   fmt.Sprintf("the task header %s is %s but must be %s", f.Name, f.Value, f.Rule),
			Effect: "Every job of this task is an incident that names the header. No claim is decided.",
		}
		rule := ruleHeader
		if strings.HasPrefix(strings.TrimSpace(h.value), "=") {
			finding.What += "; expressions are not evaluated in headers"
			finding.Advice = "Give the task a job type of its own, also by an expression, and map it to a policy in RETRY_JOB_TYPES"
		}
		if f.Name == contract.HeaderPolicy {
			rule = rulePolicy
			if near := text.Nearest(h.value, l.options.Policies.Names()); near != "" {
				finding.What += fmt.Sprintf("; did you mean %s?", near)
				finding.Fix = headerFix(f.Name, near)
			} else if finding.Advice == "" {
				finding.Advice = "Name one of them, or pass the policies file of the worker with --policies"
			}
		} else if f.Meant != "" {
			finding.Fix = headerFix(f.Meant, h.value)
		}
		l.add(n, text.Error, rule, finding)
	}
	for _, h := range n.headers {
		l.ineffective(n, a, h)
	}
}

// ineffective finds a header that the worker does not read, although its name is near one that it reads.
func (l *linter) ineffective(n *node, a *analysis, h header) {
	refused := slices.ContainsFunc(a.faults, func(f input.Fault) bool { return f.Name == h.key })
	if refused || slices.Contains(contract.Headers(), h.key) || slices.Contains(templateHeaders, h.key) {
		return
	}
	if ours := text.Nearest(h.key, contract.Headers()); ours != "" {
		l.add(n, text.Warning, ruleHeader, text.Finding{
			Line:   h.line,
			What:   fmt.Sprintf("the worker does not read the task header %q; did you mean %s?", h.key, ours),
			Effect: "The header changes nothing.",
			Fix:    headerFix(ours, h.value),
		})
	}
}

// templateHeaders are those with which an element template marks its tasks.
var templateHeaders = []string{"elementTemplateId", "elementTemplateVersion"}

// foreignHeaders finds a header of the analysis on a task that is none.
func (l *linter) foreignHeaders(n *node) {
	for _, h := range n.headers {
		if h.key == contract.HeaderPolicy || h.key == contract.HeaderOnExhausted || h.key == contract.HeaderOnPermanent {
			l.add(n, text.Warning, ruleHeader, text.Finding{
				Line:   h.line,
				What:   fmt.Sprintf("the task header %s stands on a task that does not analyze a retry", h.key),
				Effect: "The header changes nothing: only the analysis task is asked for it.",
				Advice: "Move it to the task whose job type is " + contract.JobType,
			})
		}
	}
}

func headerFix(key, value string) string {
	return fmt.Sprintf("<zeebe:taskHeaders>\n  <zeebe:header key=\"%s\" value=\"%s\" />\n</zeebe:taskHeaders>", attribute(key), attribute(value))
}

// header returns a task header.
func (n *node) header(key string) header {
	for _, h := range n.headers {
		if h.key == key {
			return h
		}
	}
	return header{}
}

// retries finds worker's tasks whose job retries are not what they should be.
func (l *linter) retries(n *node) {
	if l.tasks[n] == nil && !isOutcome(n) {
		return
	}
	fix := fmt.Sprintf(`<zeebe:taskDefinition type="%s" retries="3" />`, attribute(n.jobType))
	if _, is := expression(n.retries); is {
		return
	}
	count, err := strconv.Atoi(n.retries)
	switch {
	case !n.hasRetries:
		l.add(n, text.Information, ruleRetries, text.Finding{
			What:   "the job retries are not set",
			Effect: "Zeebe gives each job 3, which is enough. It only does not show in the model.",
			Fix:    fix,
		})
	case err != nil:
		l.add(n, text.Error, ruleRetries, text.Finding{
			What:   fmt.Sprintf("the job retries are %q, which is no number", n.retries),
			Effect: "The broker refuses the model.",
			Fix:    fix,
		})
	case count <= 0:
		l.add(n, text.Warning, ruleRetries, text.Finding{
			What:   fmt.Sprintf("the job retries are %d", count),
			Effect: "The job is worked, but whenever the worker releases it, such as while its store is unavailable, it is an incident (JOB_NO_RETRIES) and does not come again.",
			Fix:    fix,
		})
	}
}

// countHidden finds mappings that keep results of the analysis from the process.
func (l *linter) countHidden(n *node) {
	switch a := l.tasks[n]; {
	case a != nil:
		l.hiddenByTask(n, a)
	case n.kind == "callActivity" && l.analyses(n):
		l.hiddenByCall(n)
	}
}

func (l *linter) hiddenByTask(n *node, a *analysis) {
	read := func(v string) bool { return v == contract.RetryCount || l.readElsewhere(n, v) }
	hidden := hiddenResults(n, a.results, read)
	if len(hidden) == 0 {
		return
	}
	f := text.Finding{Effect: hiddenEffect(hidden)}
	if len(n.outputs) > 0 {
		f.Line = n.outputs[0].line
		f.What = fmt.Sprintf("the output mappings hide %s: with one mapping, only mapped variables reach the process", enumerated(hidden))
		f.Advice = "Remove the output mappings. What they compute can be an output mapping of the next event. If you keep them, map every result:"
		f.Fix = outputs(same(a.results)...)
	} else {
		f.Line = n.inputLine(hidden[0])
		f.What = fmt.Sprintf("the input mapping to %s makes a variable of the task itself, which hides the result", enumerated(hidden))
		f.Advice = "Remove the input mapping: the worker reads the process variable without it. If you keep it, map the results:"
		f.Fix = outputs(same(a.results)...)
	}
	l.add(n, text.Error, ruleCountHidden, f)
}

// inputLine returns the line of an input mapping, 0 if there is none.
func (n *node) inputLine(variable string) int {
	m, _ := n.input(variable)
	return m.line
}

// hiddenResults returns the results that a task or call activity keeps from the process, of those that matter.
func hiddenResults(n *node, results []string, matters func(string) bool) (hidden []string) {
	for _, v := range results {
		lost := false
		if len(n.outputs) > 0 {
			m, is := n.output(v)
			feel, _ := expression(m.source)
			lost = !is || !reads(feel, v)
		} else {
			_, lost = n.input(v)
		}
		if lost && matters(v) {
			hidden = append(hidden, v)
		}
	}
	return hidden
}

func hiddenEffect(hidden []string) string {
	var parts []string
	others := slices.DeleteFunc(slices.Clone(hidden), func(v string) bool { return v == contract.RetryCount })
	if len(others) < len(hidden) {
		parts = append(parts, "The process keeps the old count, so every failure looks like the same try. The worker takes the audit trail's count then, and warns of it.")
	}
	if len(others) > 0 {
		parts = append(parts, fmt.Sprintf("What reads %s in this process reads the value of before, or null: a gateway takes the wrong way, or a timer is an incident.", enumerated(others)))
	}
	return strings.Join(parts, " ")
}

// readElsewhere reports whether another node of the process reads a variable. An error event reads those of the error.
func (l *linter) readElsewhere(n *node, variable string) bool {
	count := n.process.readers[variable]
	if n.variables[variable] && !n.catchesErrors {
		count--
	}
	return count > 0
}

// hiddenByCall finds results that a call activity keeps from its process.
func (l *linter) hiddenByCall(n *node) {
	var inputs []string
	for _, v := range allResults {
		if _, is := n.input(v); is {
			inputs = append(inputs, v)
		}
	}
	loop := l.retriesInside(n)
	read := func(v string) bool { return l.readElsewhere(n, v) || slices.Contains(inputs, v) }
	severity := text.Warning
	if !loop {
		severity = text.Error
	}
	if len(n.outputs) == 0 && n.propagatesAll {
		hidden := hiddenResults(n, inputs, read)
		if len(hidden) > 0 {
			l.add(n, severity, ruleCountHidden, text.Finding{
				Line:   n.inputLine(hidden[0]),
				What:   fmt.Sprintf("the input mapping to %s makes a variable of the call activity, into which the result is written and lost", enumerated(hidden)),
				Effect: hiddenEffect(hidden),
				Advice: "Remove the input mapping, as the called process sees the variables of this one. If you keep it, map the result:",
				Fix:    outputs(same(hidden)...),
			})
		}
		return
	}
	if loop { // it ends with success, after which the count is not needed
		return
	}
	hidden := hiddenResults(n, allResults, func(v string) bool { return v == contract.RetryCount || l.readElsewhere(n, v) })
	if len(n.outputs) == 0 {
		hidden = []string{contract.RetryCount}
	}
	if len(hidden) > 0 {
		l.add(n, severity, ruleCountHidden, text.Finding{
			What:   fmt.Sprintf("the call activity does not return %s of the process %s", enumerated(hidden), n.calls),
			Effect: hiddenEffect(hidden),
			Fix:    outputs(same(allResults)...),
		})
	}
}

// retriesInside reports whether the process that a call activity calls has the loop in it: what follows an analysis there
// can lead to it again.
func (l *linter) retriesInside(call *node) bool {
	return l.inCalled(call, func(n *node) bool {
		return l.tasks[n] != nil && path(n.after(), n, func(*node) bool { return false }) != nil
	})
}

// userTask finds user tasks that Tasklist does not show.
func (l *linter) userTask(n *node) {
	if n.kind != "userTask" || n.isUserTaskOfZeebe {
		return
	}
	l.add(n, text.Warning, ruleUserTask, text.Finding{
		What:   "the user task is job-based",
		Effect: "Tasklist of Camunda 8.8 and later does not show it: the claim waits and no person sees it. Only a job worker could complete it.",
		Advice: "In Modeler choose Implementation: Camunda user task. It is one element:",
		Fix:    "<bpmn:extensionElements>\n  <zeebe:userTask />\n</bpmn:extensionElements>",
	})
}

// enumerated lists texts: a, b and c.
func enumerated(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
