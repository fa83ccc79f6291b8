// Package redrive sends claims again now, by a person's order: it chooses and judges them, sends the orders
// at a rate, and looks for the records that confirm them.
package redrive

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/ops/outage"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

const (
	// confirmEvery is how often the store is asked for the record of an order.
	confirmEvery = 100 * time.Millisecond
	// maxUnconfirmed is how many orders may wait for their record at a time. A worker that does not keep up
	// slows the sending down.
	maxUnconfirmed = 50
)

// Order is a person's order to send a claim again now.
type Order struct {
	// ID is the order's own, a UUID, by which its record is found in the audit trail.
	ID string `json:"redriveId"`
	// Justification says why, DecidedBy who ordered it. Both become process variables, so that they hold no
	// personal data.
	Justification string `json:"justification"`
	DecidedBy     string `json:"decidedBy"`
	// RedriveWait is how long the process waits before it sends the claim again, and RetryCount the retry
	// that this is. They are absent where it sends the claim at once, in a new round.
	RedriveWait contract.ISODuration `json:"redriveWait,omitzero"`
	RetryCount  int                  `json:"retryCount,omitempty"`
}

// Redriver carries out an order for one claim or many.
type Redriver struct {
	Store audit.Store
	// Send hands an order to the process of a claim, if that waits for it at this moment.
	Send func(ctx context.Context, claimID string, order Order) error
	Now  func() time.Time
	// Order is given an ID of its own for each claim.
	Order Order
	// Force sends claims whose retries are used up or whose error is permanent, Checked those that may have
	// arrived.
	Force, Checked bool
	// Wait is how long stopped claims wait before they are sent, in the same round; 0 for at once, in a new
	// one.
	Wait time.Duration
	// Timeout is how long the record of an order is waited for.
	Timeout time.Duration
}

// Result is what became of a claim. The names are stable.
type Result string

// The results.
const (
	Done        Result = "done"        // recorded: it is sent again
	Planned     Result = "planned"     // it would be sent again
	Refused     Result = "refused"     // nothing was sent; the fault says why
	Unconfirmed Result = "unconfirmed" // the order was sent, and no record of it came in time
	Failed      Result = "failed"      // the store or the gateway failed
	NotTried    Result = "not_tried"   // stopped before its turn
)

// Claim is a claim, and what became of it. Its JSON form is stable.
type Claim struct {
	claims.Claim
	// Record is the ID of the record that shows how the claim stands: a plan holds as long as that is the
	// last.
	Record int64 `json:"record,omitempty,string"`
	// Check says why the claim may have arrived: it is a duplicate, or the advice of a decision.
	Check string `json:"check,omitempty"`

	Result Result `json:"result"`
	// RedriveID is the order's own UUID, in the record as well; absent where nothing was sent.
	RedriveID string `json:"redriveId,omitempty"`
	// Recorded is the kind of the record that confirms it, RecordedAt its time.
	Recorded   audit.Kind `json:"recorded,omitempty"`
	RecordedAt time.Time  `json:"recordedAt,omitzero"`
	// Fault is why the claim is not sent again, where that lies with the claim. Why says it for people, in
	// JSON in English.
	Fault Fault        `json:"fault,omitempty"`
	Why   text.Message `json:"why,omitzero"`
	// Err is a failure of the store or the gateway.
	Err error `json:"-"`

	last *audit.Record // which shows how the claim stands, nil where nothing is known of it
}

// ends sets what became of a claim that is not sent again, and why.
func (c *Claim) ends(result Result, fault Fault, why text.Message) {
	c.Result, c.Fault, c.Why = result, fault, why
}

// failed sets that the store or the gateway failed.
func (c *Claim) failed(err error) {
	c.ends(Failed, "", text.Messagef("%s", err))
	c.Err = err
}

// one has a planned claim sent again, if it still stands as it was planned.
func (r *Redriver) one(ctx context.Context, planned *Claim) Claim {
	c := r.again(ctx, planned.ClaimID, planned.Record)
	if c.Result != Planned {
		return c
	}
	order := r.Order
	order.ID = uuid.NewString()
	c.RedriveID = order.ID
	if r.Wait > 0 {
		order.RedriveWait, order.RetryCount = contract.ISODuration(r.Wait), c.RetryCount+1
	}
	if err := r.Send(ctx, c.ClaimID, order); err != nil {
		c.failed(fmt.Errorf("%w; %w", err, text.Messagef("whether the order came through is not known: "+
			"worker history shows it later")))
		return c
	}
	record, err := r.confirmation(ctx, c.ClaimID, order.ID)
	switch {
	case err != nil:
		c.failed(err)
	case record == nil:
		c.ends(Unconfirmed, InvalidRetryState, text.Messagef("no record of the order came in time. "+
			"No process waited for it, its instance is suspended (since 8.10), or no worker is there to "+
			"record it: its history shows whether one came later"))
	default:
		c.Result, c.Recorded, c.RecordedAt = Done, record.Kind, record.At
		if r.Wait > 0 && record.Kind != audit.KindRedriven {
			c.failed(text.Messagef("claim %s was sent again at once, in a new round: "+
				"its process does not know redriveWait (docs/model.md)", c.ClaimID))
		}
	}
	return c
}

// confirmation waits for the record that bears the order's ID. It returns nil where that does not come in
// time.
func (r *Redriver) confirmation(ctx context.Context, claimID, id string) (*audit.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	for ctx.Err() == nil {
		_, records, err := r.Store.Claim(ctx, claimID)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		for i := range records {
			if strings.Contains(records[i].Detail, id) { // nobody else knows it
				return &records[i], nil
			}
		}
		outage.Sleep(ctx, confirmEvery)
	}
	return nil, nil //nolint:nilnil // it did not come
}

// All has the planned claims sent again, in order, with at least this time between two. It ends with ctx, and
// with the first failure of the store or the gateway; the claims that are left are not tried. After each
// order it calls progress with their number so far.
func (r *Redriver) All(ctx context.Context, chosen []Claim, every time.Duration, progress func(given int)) {
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(maxUnconfirmed)
	given := 0
	for i := range chosen {
		c := &chosen[i]
		if c.Result != Planned {
			continue
		}
		if given > 0 {
			outage.Sleep(going, every)
		}
		planned := *c
		c.ends(NotTried, "", text.Messagef("stopped before its turn"))
		if going.Err() != nil {
			continue
		}
		group.Go(func() error {
			if going.Err() == nil { // as it may have while this one waited for a place
				*c = r.one(ctx, &planned)
			}
			return c.Err
		})
		given++
		progress(given)
	}
	_ = group.Wait() // each claim tells its own
}
