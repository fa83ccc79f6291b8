package history

import (
	"cmp"
	"encoding/json"
	"strings"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/testing/devbroker"
)

// job notes what jobs there are, and what their ends say.
func (c *Claim) job(r devbroker.Record, v value) error {
	switch r.Intent {
	case "CREATED":
		c.At.Job = &Job{Key: r.Key, Type: v.Type, Element: v.ElementID}
	case "COMPLETED", "ERROR_THROWN":
		c.At.Job = nil
		if takeOver := done[v.Type]; takeOver != nil {
			return takeOver(c, r, v)
		}
	case "CANCELED":
		c.At.Job = nil
	}
	return nil
}

// done takes over the ends of the jobs that the models make.
var done = map[string]func(*Claim, devbroker.Record, value) error{
	SubmitClaim:             (*Claim).submitted,
	contract.JobType:        (*Claim).analyzed,
	NotifyTeam:              (*Claim).notified,
	contract.OutcomeJobType: (*Claim).recorded,
}

func (c *Claim) submitted(r devbroker.Record, v value) error {
	var with struct{ SubmissionError string }
	if err := json.Unmarshal(v.Variables, &with); err != nil {
		return err
	}
	c.Tries = append(c.Tries, Try{At: c.since(r), Accepted: r.Intent == "COMPLETED", Error: with.SubmissionError})
	return nil
}

func (c *Claim) analyzed(r devbroker.Record, v value) error {
	answer, err := contract.Read(string(v.Variables), "")
	if err != nil {
		return err
	}
	c.last().Decision = &Decision{
		At:             c.since(r),
		Outcome:        cmp.Or(v.ErrorCode, string(answer.ErrorClassification)),
		Class:          string(answer.ErrorClassification),
		Code:           answer.RetryDecision.MatchedCode,
		RetryCount:     answer.RetryCount,
		MaxRetries:     answer.MaxRetries,
		BackoffMinutes: answer.BackoffMinutes,
	}
	return nil
}

func (c *Claim) notified(_ devbroker.Record, v value) error {
	t := c.last()
	t.Notified = append(t.Notified, v.CustomHeaders["team"])
	return nil
}

// userTask notes what a person is to decide, and what they decided.
func (c *Claim) userTask(r devbroker.Record, v value) error {
	switch r.Intent {
	case "CREATED":
		c.At.UserTask = &UserTask{Key: r.Key, Element: v.ElementID, Team: team(v)}
	case "COMPLETED":
		c.At.UserTask = nil
		return c.reviewed(r, v)
	case "CANCELED":
		c.At.UserTask = nil
	}
	return nil
}

// team names the team that may do a user task.
func team(v value) string { return strings.Join(v.CandidateGroupsList, ", ") }

func (c *Claim) reviewed(r devbroker.Record, v value) error {
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

func (c *Claim) recorded(devbroker.Record, value) error {
	t := c.last()
	t.Recorded = append(t.Recorded, c.outcome)
	return nil
}
