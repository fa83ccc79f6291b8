package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
)

const (
	// confirmEvery is how often the store is asked for the record of an order.
	confirmEvery = 100 * time.Millisecond
	// maxUnconfirmed is how many orders may wait for their record at a time. A worker that does not keep up slows the
	// sending down.
	maxUnconfirmed = 50
)

// redriving is a person's order to send claims again, and what is needed to carry it out.
type redriving struct {
	store  audit.Store
	sender *app.Redriver
	now    clock
	where  string // which store
	order  app.Redrive
	force  bool
	wait   time.Duration
}

// result is what became of a claim. The names are stable.
type result string

const (
	resultDone        result = "done"        // recorded: it is sent again
	resultPlanned     result = "planned"     // of a dry run: it would be sent again
	resultRefused     result = "refused"     // nothing was sent; the fault says why
	resultUnconfirmed result = "unconfirmed" // the order was sent, and no record of it came in time
	resultFailed      result = "failed"      // the store or the gateway failed
	resultNotTried    result = "not_tried"   // stopped before its turn
)

// redriven is what became of one claim. Its JSON form is stable.
type redriven struct {
	candidate
	Result result `json:"result"`
	// RedriveID is the order's own UUID, in the record as well; absent where nothing was sent.
	RedriveID string `json:"redriveId,omitempty"`
	// Recorded is the kind of the record that confirms it, RecordedAt its time.
	Recorded   string     `json:"recorded,omitempty"`
	RecordedAt *time.Time `json:"recordedAt,omitempty"`
	Fault      faultName  `json:"fault,omitempty"`
	Message    string     `json:"message,omitempty"`

	err error
}

// ends notes what became of the claim, and why.
func (d *redriven) ends(as result, err error) {
	d.Result, d.err = as, err
	if err != nil {
		d.Message = err.Error()
	}
	if fault, ok := errors.AsType[*faultError](err); ok {
		d.Fault, d.Message = fault.name, fault.why
	}
}

// look finds out how a claim stands, and whether it may be sent again.
func (r *redriving) look(ctx context.Context, claimID string) (d redriven) {
	d.ClaimID = claimID
	records, err := r.store.Claim(ctx, claimID)
	if err != nil {
		d.ends(resultFailed, err)
		return d
	}
	last := lastHeard(records)
	if last == nil {
		d.ends(resultRefused, &faultError{jobNotFound, claimID, fmt.Sprintf(
			"nothing is known of it in %s: no decision was asked for it, or its retention is over", r.where)})
		return d
	}
	if d.candidate, err = candidateOf(last, r.now()); err != nil {
		d.ends(resultFailed, err)
		return d
	}
	d.judge(r.force)
	return d
}

// judge plans a claim, or refuses it.
func (d *redriven) judge(force bool) {
	d.Result = resultPlanned
	if fault := d.refused(force); fault != nil {
		d.ends(resultRefused, fault)
	}
}

// redrive has one claim sent again, if it still may be.
func (r *redriving) redrive(ctx context.Context, claimID string) redriven {
	d := r.look(ctx, claimID)
	if d.Result != resultPlanned {
		return d
	}
	order := r.order
	order.ID = uuid.NewString()
	d.RedriveID = order.ID
	if err := r.sender.Send(ctx, claimID, order); err != nil {
		d.ends(resultFailed, fmt.Errorf("%w; whether the order came through is not known: worker history tells, later", err))
		return d
	}
	record, err := r.confirmation(ctx, claimID, order.ID)
	switch {
	case err != nil:
		d.ends(resultFailed, err)
	case record == nil && ctx.Err() != nil:
		d.ends(resultUnconfirmed, errors.New("stopped before the record of the order was there; worker history reports whether it came"))
	case record == nil:
		d.ends(resultUnconfirmed, &faultError{invalidRetryState, claimID, fmt.Sprintf(
			"no record of the order within %s. No process waited for it, or no worker is there to record it: "+
				"worker history reports whether one came later; look there before you order it once more", r.wait)})
	default:
		d.Recorded, d.RecordedAt = record.Kind.String(), &record.At
		d.ends(resultDone, nil)
	}
	return d
}

// confirmation waits for the record that bears the order's ID; nil where it does not come in time.
func (r *redriving) confirmation(ctx context.Context, claimID, id string) (*audit.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	tick := time.NewTicker(confirmEvery)
	defer tick.Stop()
	for {
		records, err := r.store.Claim(ctx, claimID)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		for i := range records {
			if strings.Contains(records[i].Detail, id) { // nobody else knows it
				return &records[i], nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, nil //nolint:nilnil // it did not come
		}
	}
}

// all has the planned claims sent again, in order, with at least this time between two. The first failure of the store or
// the gateway ends it, and so does the end of ctx: what is left is not tried. told is called after each with how many
// are done with.
func (r *redriving) all(ctx context.Context, claims []redriven, every time.Duration, told func(n int)) {
	going, stop := context.WithCancel(ctx)
	defer stop()
	var (
		group   errgroup.Group
		mu      sync.Mutex
		settled int
	)
	group.SetLimit(maxUnconfirmed)
	tick := time.NewTicker(every)
	defer tick.Stop()
	begun := false
	for i := range claims {
		d := &claims[i]
		if d.Result != resultPlanned {
			continue
		}
		if begun {
			select {
			case <-tick.C:
			case <-going.Done():
			}
		}
		begun = true
		group.Go(func() error {
			if going.Err() != nil {
				d.ends(resultNotTried, errors.New("stopped before its turn"))
			} else if *d = r.redrive(ctx, d.ClaimID); d.Result == resultFailed {
				stop()
			}
			mu.Lock()
			defer mu.Unlock()
			settled++
			told(settled)
			return nil
		})
	}
	_ = group.Wait() // none returns an error
}
