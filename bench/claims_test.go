package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// right is the answer that a sound worker gives to a claim.
func right(c claim, at time.Time) answer {
	count, minutes, next := c.retryCount, 0, "null"
	if c.code == "" {
		count, minutes = count+1, bands[c.retryCount][0]
		next = fmt.Sprintf("%q", at.Add(time.Duration(minutes)*time.Minute).UTC().Format(time.RFC3339))
	}
	return answer{
		code: c.code,
		variables: fmt.Sprintf(`{"shouldRetry":%t,"retryCount":%d,"maxRetries":5,"backoffMinutes":%d,"nextRetryTime":%s,"errorClassification":%q,"originalError":%q}`,
			c.code == "", count, minutes, next, c.class, c.text),
		at: at, tolerance: time.Second,
	}
}

func TestARightAnswerPasses(t *testing.T) {
	for _, c := range mixed(0, 200) {
		if err := c.check(right(c, time.Now())); err != nil {
			t.Error(err)
		}
	}
}

// A worker that is fast because it is wrong must not get into the table.
func TestAWrongAnswerIsNoticed(t *testing.T) {
	claims := mixed(0, 100)
	retried, permanent, exhausted := claims[1], claims[90], claims[97]
	for _, tt := range []struct {
		name     string
		claim    claim
		old, new string // in the variables of the right answer
		code     string // instead of the right one
	}{
		{name: "half an object", claim: retried, old: "}", new: ""},
		{name: "another class", claim: retried, old: "TRANSIENT", new: "UNKNOWN"},
		{name: "the count is not raised", claim: retried, old: `"retryCount":2`, new: `"retryCount":1`},
		{name: "a wait outside of the band", claim: retried, old: `"backoffMinutes":8`, new: `"backoffMinutes":13`},
		{name: "no next retry", claim: retried, old: `"nextRetryTime":"`, new: `"other":"`},
		{name: "another text", claim: retried, old: "HTTP 503", new: "HTTP 504"},
		{name: "no retry", claim: retried, old: `"shouldRetry":true`, new: `"shouldRetry":false`},
		{name: "stopped", claim: retried, code: "PERMANENT_ERROR"},
		{name: "the other error", claim: permanent, code: "MAX_RETRIES_EXCEEDED"},
		{name: "a wait before nothing", claim: permanent, old: `"backoffMinutes":0`, new: `"backoffMinutes":5`},
		{name: "a retry too many", claim: exhausted, old: `"shouldRetry":false`, new: `"shouldRetry":true`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := right(tt.claim, time.Now())
			if !strings.Contains(a.variables, tt.old) {
				t.Fatalf("%s holds no %s", a.variables, tt.old)
			}
			a.variables = strings.Replace(a.variables, tt.old, tt.new, 1)
			if tt.code != "" {
				a.code = tt.code
			}
			if err := tt.claim.check(a); err == nil {
				t.Errorf("%+v passes", a)
			}
		})
	}
	t.Run("a next retry that is not after the wait", func(t *testing.T) {
		a := right(retried, time.Now())
		a.at = a.at.Add(time.Minute)
		if err := retried.check(a); err == nil {
			t.Errorf("%+v passes", a)
		}
	})
}
