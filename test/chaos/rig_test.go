package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/proxy"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

// rig is the stage of one test: a broker, a proxy before it, a store, the workers, and what was started.
type rig struct {
	*testing.T
	dir     string
	broker  *cluster.Cluster
	proxy   *proxy.Proxy // the workers' way to the broker
	url     string       // of the store
	keyFile string
	secret  *audit.Secret
	ledger  *ledger
	workers []*worker
	queue   *queue // nil where events stay in the outbox
	claims  map[string]claim
	began   time.Time
}

// claim is the input of one job, and what must be decided about it.
type claim struct {
	ID         string `json:"claimId"`
	Error      string `json:"submissionError"`
	RetryCount int    `json:"retryCount"`
	kind       audit.Kind
}

// canaries are the error texts of all claims, each with invented personal data in it that must turn up nowhere.
var canaries = redacttest.Take(4, 400)

// newRig sets the stage, with a store in SQLite. The models are one with many jobs in an instance, and one with one job and an
// end for each way it can go.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, dir: t.TempDir(), claims: map[string]claim{}, began: time.Now().Truncate(time.Microsecond)}
	var err error
	r.broker, err = cluster.Start()
	check.Must(r, err)
	t.Cleanup(func() { check.Must(r, r.broker.Stop()) })
	check.Must(r, r.broker.Deploy(t.Context(), "../e2e/testdata/one-task.bpmn"))
	r.ledger = newLedger(r.broker)
	r.proxy = r.before(r.broker.Address())
	r.secret, err = audit.NewSecret()
	check.Must(r, err)
	r.keyFile = filepath.Join(r.dir, "audit.key")
	check.Must(r, r.secret.Save(r.keyFile))
	r.url = "sqlite://" + filepath.Join(r.dir, "analyze-retry.db")
	return r
}

// before starts a proxy before an address.
func (r *rig) before(address string) *proxy.Proxy {
	r.Helper()
	p, err := proxy.Start(address)
	check.Must(r, err)
	r.Cleanup(func() { check.Must(r, p.Close()) })
	return p
}

// happened notes that a fault has happened so many times. A fault that did not happen proves nothing.
func (r *rig) happened(n int, what string) {
	r.Helper()
	if n <= 0 {
		r.Errorf("the test proves nothing: %d %s", n, what)
	}
	r.Logf("%d %s", n, what)
}

// pass lets time go by in which a fault is in place.
func (r *rig) pass(d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}

// chunk is how many claims are submitted at a time.
const chunk = 200

// submit starts the process instances of n new claims, a chunk at a time, and returns when the broker has them all. The last
// of each chunk are permanent errors, some with no retries left, and one with an invalid input; all others are to be retried.
func (r *rig) submit(n int) {
	r.Helper()
	for from := 0; from < n; from += chunk {
		some := min(chunk, n-from)
		for i := range some {
			number := len(r.claims)
			c := claim{fmt.Sprintf("CLM-%d-1", 1000+number), passing[number%len(passing)], number % 5, audit.KindRetry}
			switch last := some - i; {
			case last > 22:
			case last > 8:
				c.Error, c.kind = permanent[number%len(permanent)], audit.KindPermanent
			case last > 2:
				c.RetryCount, c.kind = 5, audit.KindExhausted
			case last > 1:
				c.RetryCount, c.kind = -1, audit.KindRejected
			}
			r.claims[c.ID] = c
			r.create(c)
		}
	}
}

// passing and permanent are the texts by what the rule makes of them.
var passing, permanent = sortTexts()

func sortTexts() (passing, permanent []string) {
	tiss := policy.BuiltIn("tiss")
	for _, c := range canaries {
		if tiss.Classify(c.Text).Class == retry.Permanent {
			permanent = append(permanent, c.Text)
		} else {
			passing = append(passing, c.Text)
		}
	}
	return passing, permanent
}

// create starts the process instance of a claim.
func (r *rig) create(c claim) {
	r.Helper()
	text, err := json.Marshal(c)
	check.Must(r, err)
	_, err = r.broker.CreateProcessInstance(r.Context(),
		&pb.CreateProcessInstanceRequest{BpmnProcessId: "OneTask", Version: -1, Variables: string(text)})
	check.Must(r, err)
}

// look brings the ledger up to date.
func (r *rig) look() *ledger {
	r.Helper()
	check.Must(r, r.ledger.update())
	return r.ledger
}

// done is how many jobs have come to an end, open how many claims have not.
func (r *rig) done() int {
	r.Helper()
	l := r.look()
	return len(l.jobs) - l.open()
}

func (r *rig) open() int {
	r.Helper()
	return len(r.claims) - r.done()
}

// untilAtWork keeps so many claims ahead of the workers, and waits until they have done some more of them.
func (r *rig) untilAtWork(ahead int) {
	r.Helper()
	done := r.done() // first: fast workers end all claims while they are submitted
	if r.open() < ahead {
		r.submit(ahead)
	}
	check.Await(r, "the workers are at work", func() bool { return r.done() > done })
}

// untilDone waits until every claim has become a job and every job has come to an end.
func (r *rig) untilDone() {
	r.Helper()
	check.Await(r, "all jobs come to an end", func() bool {
		l := r.look()
		return len(l.jobs) >= len(r.claims) && l.open() == 0
	})
}

// read opens the store for reading while something is done with it.
func (r *rig) read(do func(audit.Store) error) {
	r.Helper()
	var s audit.Store
	var err error
	if path, is := strings.CutPrefix(r.url, "sqlite://"); is {
		s, err = sqlite.OpenReadOnly(r.Context(), path, nil)
	} else {
		s, err = postgres.OpenReadOnly(r.Context(), r.url, nil)
	}
	check.Must(r, err)
	check.Must(r, errors.Join(do(s), s.Close()))
}

// leads leads once in the place of the workers, which have stopped: from then on events wait.
func (r *rig) leads() {
	r.Helper()
	var s audit.Store
	var err error
	if path, is := strings.CutPrefix(r.url, "sqlite://"); is {
		s, err = sqlite.Open(r.Context(), path, func(bool) (*audit.Secret, error) { return r.secret, nil })
	} else {
		s, err = postgres.Open(r.Context(), r.url, r.secret)
	}
	check.Must(r, err)
	lead, err := s.Lead(r.Context())
	check.Must(r, err)
	lead.Release()
	check.Must(r, s.Close())
}

// records returns all that is in the store. A worker may be writing to it.
func (r *rig) records() (all []audit.Record) {
	r.Helper()
	r.read(func(s audit.Store) error {
		end := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
		return s.Between(r.Context(), time.Unix(0, 0), end, nil, func(record *audit.Record) error {
			all = append(all, *record)
			return nil
		})
	})
	return all
}

// backlog is how many events no queue has acknowledged.
func (r *rig) backlog() (n int64) {
	r.Helper()
	r.read(func(s audit.Store) (err error) {
		n, _, err = s.Backlog(r.Context())
		return err
	})
	return n
}

// alive are the workers that run.
func (r *rig) alive() []*worker {
	return slices.DeleteFunc(slices.Clone(r.workers), func(w *worker) bool { return !w.Alive() })
}

// losesReplies has a proxy hold back what comes back until there is some, and resets the connections.
func (r *rig) losesReplies(p *proxy.Proxy) {
	r.Helper()
	before := p.Did().Held[proxy.ToClient]
	p.Set(proxy.Faults{Hole: [2]bool{proxy.ToClient: true}})
	check.Await(r, "replies are held back", func() bool { return p.Did().Held[proxy.ToClient] > before })
	p.ResetAll()
	p.Set(proxy.Faults{})
}
