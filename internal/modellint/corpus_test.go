package modellint_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

var update = flag.Bool("update", false, "write the bad models anew")

// mistake is a bad model: a good one with one mistake. Its name begins with the rule that finds it.
type mistake struct {
	name, base, says string
	edits            []edit
}

// edit makes the mistake in the text of a model.
type edit func(t *testing.T, model string) string

const (
	task      = "Task_AnalyzeRetry"
	exhausted = "BoundaryEvent_MaxRetriesExceeded"
	permanent = "BoundaryEvent_PermanentError"
	timer     = "Event_WaitBackoff"
	duration  = `="PT" + string(backoffMinutes) + "M"`
)

// mistakes are all bad models that are BPMN.
var mistakes = []mistake{
	{
		"count-hidden-output", "loop", "The analysis task has an output mapping, so that the new retryCount does not reach the process.",
		edits(mapping(task, `output source="=backoffMinutes" target="backoffMinutes"`)),
	},
	{
		"count-hidden-input", "loop", "An input mapping makes retryCount local to the analysis task, where the new one stays.",
		edits(mapping(task, `input source="=retryCount" target="retryCount"`)),
	},
	{
		"count-hidden-call-activity", "call-activity", "An input mapping makes retryCount local to the call activity, where the returned one stays.",
		edits(mapping("Activity_0k3xq1p", `input source="=0" target="retryCount"`)),
	},

	{
		"error-not-caught-max-retries", "loop", "Nothing catches MAX_RETRIES_EXCEEDED.",
		edits(cut(exhausted, "Flow_MaxRetriesExceeded", "Error_MaxRetriesExceeded")),
	},
	{
		"error-not-caught-misspelt", "loop", "The code is misspelt: PERMANENT-ERROR.",
		edits(within("Error_PermanentError", `errorCode="PERMANENT_ERROR"`, `errorCode="PERMANENT-ERROR"`)),
	},
	{
		"error-not-caught-call-activity", "call-activity", "Nothing catches PERMANENT_ERROR of the called process.",
		edits(cut("Event_1perman", "Flow_0l8gq6i", "Error_PermanentError")),
	},
	{
		"error-not-caught-event-subprocess", "event-subprocess", "Nothing catches MAX_RETRIES_EXCEEDED.",
		edits(cut("EventSubProcess_MaxRetriesExceeded", "Error_MaxRetriesExceeded")),
	},

	{
		"error-variables-not-mapped", "person", "The error event has no output mapping.",
		edits(cutExtension(permanent)),
	},
	{
		"error-variables-not-mapped-call-activity", "call-activity", "The error event of the call activity has no output mapping.",
		edits(cutExtension("Event_1perman")),
	},

	{
		"stale-variables-error-path", "person", "The error event does not map shouldRetry, so that the person sees the one of the retry before.",
		edits(unmap(exhausted, "shouldRetry"), unmap(permanent, "shouldRetry")),
	},
	{
		"stale-variables-after-wait", "loop", "The variables of the failure are not cleared after the wait.",
		edits(cutExtension(timer)),
	},
	{
		"stale-variables-new-round", "person", "A round that a person begins starts with the count of the last one.",
		edits(unmap("Event_NewRound", "retryCount")),
	},
	{
		"stale-variables-decision", "person", "The decision of the round before is not cleared before the user task.",
		edits(cutExtension("Event_DecisionPending")),
	},

	{
		"timer-duration-no-pt", "loop", "The duration lacks PT.",
		edits(within(timer, duration, `=string(backoffMinutes) + "M"`)),
	},
	{
		"timer-duration-fixed", "loop", "The wait is the same every time, whatever was decided.",
		edits(within(timer, duration, `PT1M`)),
	},
	{
		"timer-duration-minutes-of-seconds", "short-waits", "The policy waits seconds, the timer takes whole minutes.",
		edits(within(timer, `=duration(retryDecision.backoffDuration)`, duration)),
	},
	{
		"timer-duration-no-expression", "loop", "The = before the expression is missing: Zeebe refuses the model.",
		edits(within(timer, duration, duration[1:])),
	},

	{"header-unknown-max-retry", "loop", "The header is called maxRetries.", edits(header("maxRetry", "2"))},
	{"header-unknown-misspelt", "loop", "The header retryPolicy is misspelt.", edits(header("retryPolcy", "fast"))},
	{"header-unknown-no-effect", "loop", "The header base is misspelt, in a way that could be a name of another program.", edits(header("baze", "30m"))},

	{"policy-unknown", "loop", "There is no policy tis.", edits(header("retryPolicy", "tis"))},
	{"policy-unknown-expression", "loop", "Headers are fixed text: the expression is not evaluated.", edits(header("retryPolicy", "=insurerPolicy"))},

	{
		"submission-error-not-mapped", "loop", "The error event maps no submissionError.",
		edits(cutExtension("BoundaryEvent_SubmissionFailed")),
	},

	{
		"outcome-not-recorded-submitted", "loop", "Nothing records that the insurer accepted the claim.",
		edits(reroute("Flow_Submitted", "EndEvent_ClaimSubmitted"), cut("Task_RecordSubmitted", "Flow_SubmittedRecorded")),
	},
	{
		"outcome-not-recorded-abandoned", "person", "Nothing records that the person gave the claim up.",
		edits(reroute("Flow_Abandon", "EndEvent_ClaimAbandoned"), cut("Task_RecordAbandoned", "Flow_AbandonRecorded")),
	},
	{
		"outcome-not-recorded-call-activity", "call-activity-mapped", "Nothing records that the process gives the claim up.",
		edits(reroute("Flow_NotSubmitted", "EndEvent_ClaimAbandoned"), cut("Task_RecordAbandoned", "Flow_AbandonRecorded")),
	},

	{
		"retries-unset", "loop", "The analysis task has no retries.",
		edits(within(task, `type="analyze-retry" retries="3"`, `type="analyze-retry"`)),
	},
	{
		"retries-unset-zero", "loop", "The analysis task has no retries: 0.",
		edits(within(task, `retries="3"`, `retries="0"`)),
	},

	{
		"loop-without-analysis", "loop", "The loop submits and waits, and no task decides when to stop.",
		edits(reroute("Flow_SubmissionFailed", timer), within(timer, duration, `PT5M`),
			cut(task, exhausted, permanent, "Flow_Analyzed", "Flow_MaxRetriesExceeded", "Flow_PermanentError", "Task_RecordAbandoned",
				"Flow_AbandonRecorded", "EndEvent_ClaimAbandoned", "Error_MaxRetriesExceeded", "Error_PermanentError")),
	},

	{
		"user-task-kind", "person", "The user task is job-based.",
		edits(within("Task_ReviewClaim", "        <zeebe:userTask />\n", "")),
	},
}

func edits(e ...edit) []edit { return e }

// lines returns where the element of an id stands in a model: its first line, and the line after its last one.
func lines(t *testing.T, all []string, id string) (from, to int) {
	t.Helper()
	from = slices.IndexFunc(all, func(line string) bool { return strings.Contains(line, ` id="`+id+`"`) })
	if from < 0 {
		t.Fatalf("the model has no %s", id)
	}
	if strings.HasSuffix(all[from], "/>") {
		return from, from + 1
	}
	indent := all[from][:strings.Index(all[from], "<")]
	return from, from + 1 + slices.IndexFunc(all[from:], func(line string) bool { return strings.HasPrefix(line, indent+"</") })
}

// within replaces a text that the element of an id has once.
func within(id, old, text string) edit {
	return func(t *testing.T, model string) string {
		t.Helper()
		all := strings.SplitAfter(model, "\n")
		for i, line := range all {
			all[i] = strings.TrimSuffix(line, "\n")
		}
		from, to := lines(t, all, id)
		element := strings.Join(all[from:to], "\n") + "\n"
		if strings.Count(element, old) != 1 {
			t.Fatalf("%s does not have once %q:\n%s", id, old, element)
		}
		element = strings.TrimSuffix(strings.Replace(element, old, text, 1), "\n")
		return strings.Join(slices.Concat(all[:from], []string{element}, all[to:]), "\n")
	}
}

// cut removes elements and flows, and what refers to them.
func cut(ids ...string) edit {
	return func(t *testing.T, model string) string {
		t.Helper()
		all := strings.Split(model, "\n")
		for _, id := range ids {
			from, to := lines(t, all, id)
			all = slices.Delete(all, from, to)
			all = slices.DeleteFunc(all, func(line string) bool { return strings.Contains(line, ">"+id+"</") })
		}
		return strings.Join(all, "\n")
	}
}

// cutExtension removes the mappings and settings of an element.
func cutExtension(id string) edit {
	return func(t *testing.T, model string) string {
		t.Helper()
		all := strings.Split(model, "\n")
		from, to := lines(t, all, id)
		element := strings.Join(all[from:to], "\n")
		less := regexp.MustCompile(`(?s)\n *<bpmn:extensionElements>.*</bpmn:extensionElements>`).ReplaceAllString(element, "")
		if less == element {
			t.Fatalf("%s has no extension elements", id)
		}
		return strings.Join(slices.Concat(all[:from], []string{less}, all[to:]), "\n")
	}
}

// unmap removes the output mapping of a variable.
func unmap(id, variable string) edit {
	return func(t *testing.T, model string) string {
		t.Helper()
		all := strings.Split(model, "\n")
		from, to := lines(t, all, id)
		i := slices.IndexFunc(all[from:to], func(line string) bool { return strings.Contains(line, `target="`+variable+`"`) })
		if i < 0 {
			t.Fatalf("%s does not map %s", id, variable)
		}
		return strings.Join(slices.Delete(all, from+i, from+i+1), "\n")
	}
}

// mapping gives an element that has none a mapping.
func mapping(id, text string) edit {
	return within(id, "      </bpmn:extensionElements>\n", "        <zeebe:ioMapping>\n          <zeebe:"+text+" />\n        </zeebe:ioMapping>\n      </bpmn:extensionElements>\n")
}

// reroute leads a flow to another element.
func reroute(flow, to string) edit {
	return func(t *testing.T, model string) string {
		t.Helper()
		incoming := "      <bpmn:incoming>" + flow + "</bpmn:incoming>\n"
		all := strings.Split(strings.Replace(model, incoming, "", 1), "\n")
		from, _ := lines(t, all, flow)
		all[from] = regexp.MustCompile(`targetRef="[^"]*"`).ReplaceAllLiteralString(all[from], `targetRef="`+to+`"`)
		from, end := lines(t, all, to)
		if i := slices.IndexFunc(all[from:end], func(line string) bool { return strings.Contains(line, "<bpmn:incoming>") }); i >= 0 {
			from += i - 1
		}
		all[from] += "\n" + strings.TrimSuffix(incoming, "\n")
		return strings.Join(all, "\n")
	}
}

// header gives the analysis task a header.
func header(name, value string) edit {
	return within(task, "      </bpmn:extensionElements>\n", fmt.Sprintf("        <zeebe:taskHeaders>\n          <zeebe:header key=%q value=%q />\n        </zeebe:taskHeaders>\n      </bpmn:extensionElements>\n", name, value))
}

// made returns the bad model. Its process has the name of the mistake, so that all of them can be on one broker.
func (m mistake) made(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "good", m.base+".bpmn"))
	check.Must(t, err)
	model := string(text)
	for _, edit := range m.edits {
		model = edit(t, model)
	}
	model = strings.Replace(model, `process id="`+m.base+`"`, `process id="`+m.name+`"`, 1)
	return regexp.MustCompile(`<!-- .* -->`).ReplaceAllLiteralString(model, "<!-- "+m.says+" Otherwise good/"+m.base+".bpmn. -->")
}

func TestBadModelsAreGoodOnesWithOneMistake(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			path, want := filepath.Join("testdata", "bad", m.name+".bpmn"), m.made(t)
			if *update {
				check.Must(t, os.WriteFile(path, []byte(want), 0o600))
			}
			got, err := os.ReadFile(path)
			check.Must(t, err)
			if string(got) != want {
				t.Errorf("%s is stale: go test ./internal/modellint -run %s -update", path, "TestBadModelsAreGoodOnesWithOneMistake")
			}
		})
	}
}
