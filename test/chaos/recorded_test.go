package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// corpus is the error texts with the rule that answers them, by internal/retry.
const corpus = "../../internal/retry/testdata/corpus_tiss.tsv"

// recordedJobs are jobs for every text of the corpus, with every count of retries in turn, and some that are not valid.
// Their keys and those of their process instances are the same each time.
func recordedJobs(t *testing.T) (jobs []gatewaytest.Job) {
	t.Helper()
	file, err := os.Open(corpus)
	check.Must(t, err)
	defer file.Close()
	add := func(variables string) {
		jobs = append(jobs, gatewaytest.Job{Type: jobType, ProcessID: oneTask, ProcessInstanceKey: int64(7000 + len(jobs)), Variables: variables})
	}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < 5 {
			continue
		}
		variables, err := json.Marshal(claim{
			ID: fmt.Sprintf("CLM-recorded-%d", len(jobs)), Error: strings.ReplaceAll(fields[4], `\n`, "\n"), RetryCount: len(jobs) % 6,
		})
		check.Must(t, err)
		add(string(variables))
	}
	for _, variables := range []string{
		`{}`, `[]`, `{"claimId":"CLM-1"}`, `{"claimId":"X-1","submissionError":"TIMEOUT"}`, `{"claimId":"CLM-r-1","submissionError":" "}`,
		`{"claimId":"CLM-r-2","submissionError":"TIMEOUT","retryCount":2.5}`, `{"claimId":"CLM-r-3","submissionError":"TIMEOUT","retryCount":"2"}`,
		`{"claimId":"CLM-r-4","submissionError":"TIMEOUT","retryCount":2.0}`, `{"claimId":"CLM-r-5","submissionError":"TIMEOUT","retryCount":null}`,
		`{"claimId":"CLM-r-6","submissionError":"TIMEOUT","lastSubmissionTime":"2026-11-20T10:00:00Z"}`,
	} {
		add(variables)
	}
	return jobs
}

// answersOf lets a worker of its own, on a store of its own, answer the jobs, and returns what it said about each.
func (r *rig) answersOf(binary string, jobs []gatewaytest.Job) map[int64]map[string]any {
	r.Helper()
	gateway := gatewaytest.New()
	defer gateway.Close()
	address, err := gateway.Listen()
	r.must(err)
	gateway.Add(jobs...)
	r.binary = binary
	r.store.url = "sqlite://" + filepath.Join(r.dir, filepath.Base(binary)+".db")
	w := r.start("ZEEBE_ADDRESS=" + address)
	r.until("all jobs are answered", func() bool { c := gateway.Counts(); return c.Completed+c.Thrown+c.Incident == len(jobs) })
	w.stops()
	said := map[int64]map[string]any{}
	for _, call := range gateway.Calls(gatewaytest.CompleteJob, gatewaytest.ThrowError, gatewaytest.FailJob) {
		var key int64
		answer, variables := map[string]any{"answer": string(call.Method)}, ""
		switch request := call.Request.(type) {
		case *pb.CompleteJobRequest:
			key, variables = request.JobKey, request.Variables
		case *pb.ThrowErrorRequest:
			key, variables = request.JobKey, request.Variables
			answer["code"], answer["message"] = request.ErrorCode, request.ErrorMessage
		case *pb.FailJobRequest:
			key, answer["message"], answer["retries"] = request.JobKey, request.ErrorMessage, request.Retries
		}
		if variables != "" {
			r.must(json.Unmarshal([]byte(variables), &answer))
		}
		said[key] = answer
	}
	return said
}

// ruleOf is the rule by which a job was decided, "" where its input was not valid.
func ruleOf(answer map[string]any) string {
	explained, _ := answer["retryDecision"].(map[string]any)
	rule, _ := explained["ruleId"].(string)
	return rule
}

// ofTheRule reports whether a rule is one of RN-BIL-005 itself: a code of its two lists, or none of them.
func ofTheRule(rule string) bool {
	return rule == "unknown" || strings.HasPrefix(rule, "transient.") || strings.HasPrefix(rule, "permanent.")
}

// byTheClock are the names whose values differ with the clock, and the version of the set of rules.
var byTheClock = []string{"nextRetryTime", "secondsSinceLastSubmission", "policyVersion"}

// differences are the names whose values the newer worker gives otherwise. It may give more.
func differences(older, newer map[string]any) (names []string) {
	for name, value := range older {
		switch inner, is := value.(map[string]any); {
		case slices.Contains(byTheClock, name):
			if reflect.TypeOf(value) != reflect.TypeOf(newer[name]) {
				names = append(names, name)
			}
		case is:
			inNewer, _ := newer[name].(map[string]any)
			names = append(names, differences(inner, inNewer)...)
		case !reflect.DeepEqual(value, newer[name]):
			names = append(names, name)
		}
	}
	return names
}

// Row 33. The guard is that what was decided by a code of the documents, or by none, is decided alike by every version,
// down to the minute. What differs on purpose: the newer worker knows more rules (SOAP, HTTP, transport, TISS). They take
// what the older one did not know, and where they are permanent also what it took for passing by a code of the documents. Seen
// to fail without: another version of the jitter moves the wait of most retries; without one code, 13 of 14 are alike.
func TestOlderAndNewerWorkerDecideRecordedJobsAlike(t *testing.T) {
	r := newRig(t, setup{row: 33, what: "recorded jobs decided by both versions", store: inSQLite})
	jobs := recordedJobs(t)
	before, now := r.answersOf(r.previousWorker(), jobs), r.answersOf(binary, jobs)
	r.chainHolds(len(jobs)) // of the newer one's store
	alike, rules, otherwise := 0, map[string]bool{}, map[string]int{}
	for key, then := range before {
		was, is := ruleOf(then), ruleOf(now[key])
		if message, ok := now[key]["message"].(string); ok { // the newer one asks for a mapping too
			now[key]["message"] = strings.ReplaceAll(message, " (has the error event an output mapping?)", "")
		}
		names := differences(then, now[key])
		switch {
		case len(names) == 0:
			alike++
			rules[was] = true
		case is == "" || ofTheRule(is) || strings.HasPrefix(was, "permanent."):
			t.Errorf("a job is answered otherwise in %v:\nolder %v\nnewer %v", names, then, now[key])
		case was != "unknown" && now[key]["errorClassification"] != "PERMANENT":
			t.Errorf("%s has become %s", was, is)
		default:
			otherwise[fmt.Sprintf("%.9s to %v", was, now[key]["errorClassification"])]++
		}
	}
	if codes := len(rules) - 2; codes != 14 || !rules["unknown"] || !rules[""] {
		t.Errorf("%d of the documents' 14 codes were decided alike: %v", codes, slices.Sorted(maps.Keys(rules)))
	}
	r.happened(alike, "jobs decided alike, by all 14 codes")
	for _, what := range slices.Sorted(maps.Keys(otherwise)) {
		r.happened(otherwise[what], what+" by newer rules")
	}
}
