// Package report words what the commands answer: each answer is a value with a stable JSON form and a text for a terminal of
// 80 columns.
package report

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/text"
)

// labelled is a text of lines with a label each.
type labelled struct{ strings.Builder }

func (b *labelled) label(name, format string, args ...any) {
	b.WriteString(text.Hanging(fmt.Sprintf("%-11s", name), fmt.Sprintf(format, args...)))
}

// place identifies a record and its job: what audit export and history say first of each record.
type place struct {
	ID    int64     `json:"id"`
	Chain int       `json:"chain"`
	Seq   int64     `json:"seq"`
	Hash  string    `json:"hash"`
	Kind  string    `json:"kind"`
	At    time.Time `json:"at"`
	// The keys are texts, as in the events: they are larger than what JavaScript and its like read exactly as a number.
	Cluster            string `json:"cluster"`
	JobKey             string `json:"jobKey"`
	ProcessInstanceKey string `json:"processInstanceKey"`
}

func placeOf(r *audit.Record) place {
	return place{
		ID: r.ID, Chain: r.Chain, Seq: r.Seq, Hash: r.Hash.String(), Kind: r.Kind.String(), At: r.At,
		Cluster: r.Cluster, JobKey: strconv.FormatInt(r.JobKey, 10), ProcessInstanceKey: strconv.FormatInt(r.ProcessInstanceKey, 10),
	}
}

// Record is a record as it is stored. Its JSON form is stable.
type Record struct {
	place
	// Prev is the ID of the record before it about the claim, 0 for none.
	Prev int64 `json:"prev"`
	// InputsHash is a keyed hash of the job's inputs: without the store's key it says nothing about them.
	InputsHash     string     `json:"inputsHash"`
	ClaimID        string     `json:"claimId"`
	RetryCount     int        `json:"retryCount"`
	NextRetryTime  *time.Time `json:"nextRetryTime"`
	MaxRetries     int        `json:"maxRetries"`
	Classification string     `json:"errorClassification"`
	RuleID         string     `json:"ruleId"`
	MatchedCode    string     `json:"matchedCode"`
	Policy         string     `json:"policy"`
	With           string     `json:"with"`
	DecidedBy      string     `json:"decidedBy"`
	Course         course     `json:"course"`
	Message        string     `json:"message"`
	Variables      any        `json:"variables"`
	Detail         any        `json:"detail"`
}

// course is how a claim went that ended.
type course struct {
	Attempts int               `json:"attempts"`
	Seconds  int64             `json:"seconds"`
	Flags    audit.CourseFlags `json:"flags"`
}

// RecordOf returns the record as it is printed.
func RecordOf(r *audit.Record) Record {
	printed := Record{
		place:          placeOf(r),
		Prev:           r.Prev,
		InputsHash:     hex.EncodeToString(r.Inputs[:]),
		ClaimID:        r.ClaimID,
		RetryCount:     r.RetryCount,
		MaxRetries:     r.MaxRetries,
		Classification: string(r.Class),
		RuleID:         r.Rule,
		MatchedCode:    r.Code,
		Policy:         r.Policy,
		With:           r.HeldBy,
		DecidedBy:      r.DecidedBy,
		Course:         course(r.Course),
		Message:        r.Message,
		Variables:      stored(r.Variables),
		Detail:         stored(r.Detail),
	}
	if !r.NextRetryTime.IsZero() {
		printed.NextRetryTime = &r.NextRetryTime
	}
	return printed
}

// stored returns a stored JSON object as it is, nil where there is none, and a text where it is damaged.
func stored(s string) any {
	switch {
	case s == "":
		return nil
	case json.Valid([]byte(s)):
		return json.RawMessage(s)
	default:
		return s
	}
}
