package history

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/testing/cluster"
)

// job notes what jobs there are, and what their ends say.
func (l *Ledger) job(c *History, r cluster.Record, v value) error {
	task := Task{v.BpmnProcessID, v.ElementID}
	switch r.Intent {
	case "CREATED":
		c.At.Jobs[r.Key] = Job{Type: v.Type, Task: task}
		return nil
	case "CANCELED":
		delete(c.At.Jobs, r.Key)
		return nil
	case "COMPLETED", "ERROR_THROWN":
		delete(c.At.Jobs, r.Key)
	default:
		return nil
	}
	v.Variables = l.answers[r.Key]
	_, submits := l.models.Submissions[task]
	switch {
	case submits:
		return c.submitted(r, v)
	case slices.Contains(l.models.Analyses, v.Type):
		return c.analyzed(r, v)
	case v.Type == contract.OutcomeJobType:
		c.recorded()
	case v.CustomHeaders["team"] != "":
		t := c.last()
		t.Notified = append(t.Notified, v.CustomHeaders["team"])
	}
	return nil
}

func (c *History) submitted(r cluster.Record, v value) error {
	var with struct{ SubmissionError string }
	if err := json.Unmarshal(v.Variables, &with); err != nil {
		return err
	}
	accepted := r.Intent == "COMPLETED"
	c.Tries = append(c.Tries, Try{At: c.since(r), Accepted: accepted, Error: with.SubmissionError})
	return nil
}

func (c *History) analyzed(r cluster.Record, v value) error {
	answer, err := contract.Read(string(v.Variables), "")
	if err != nil {
		return err
	}
	d := &Decision{
		At:             c.since(r),
		Outcome:        cmp.Or(v.ErrorCode, string(answer.ErrorClassification)),
		Class:          string(answer.ErrorClassification),
		Code:           answer.RetryDecision.MatchedCode,
		RetryCount:     answer.RetryCount,
		MaxRetries:     answer.MaxRetries,
		BackoffMinutes: answer.BackoffMinutes,
		Wait:           time.Duration(answer.BackoffMinutes) * time.Minute,
	}
	if iso := answer.RetryDecision.BackoffDuration; iso != "" {
		if d.Wait, err = contract.ParseISODuration(iso); err != nil {
			return err
		}
	}
	c.last().Decision = d
	return nil
}

// recorded notes that the outcome of the claim was recorded.
func (c *History) recorded() {
	t := c.last()
	t.Recorded = append(t.Recorded, c.outcome)
	c.settled = ""
	if c.outcome == script.Submitted || c.outcome == script.Abandoned {
		c.settled = c.outcome
	}
}

// userTask notes what a person is to decide, and what they decided.
func (l *Ledger) userTask(c *History, r cluster.Record, v value) error {
	switch r.Intent {
	case "CREATED":
		c.At.UserTasks[r.Key] = UserTask{Element: v.ElementID, Team: team(v)}
	case "COMPLETED":
		delete(c.At.UserTasks, r.Key)
		v.Variables = l.answers[r.Key]
		return c.reviewed(r, v)
	case "CANCELED":
		delete(c.At.UserTasks, r.Key)
	}
	return nil
}

// team names the team that may do a user task.
func team(v value) string { return strings.Join(v.CandidateGroupsList, ", ") }

func (c *History) reviewed(r cluster.Record, v value) error {
	var with struct{ ManualDecision, Justification string }
	if err := json.Unmarshal(v.Variables, &with); err != nil {
		return err
	}
	t := c.last()
	t.Reviews = append(t.Reviews, Review{
		At: c.since(r), Team: team(v), Decision: with.ManualDecision, Justification: with.Justification,
	})
	return nil
}
