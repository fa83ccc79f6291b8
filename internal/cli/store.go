package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/retry"
)

// question is a command's work on a store that is open for reading.
type question func(ctx context.Context, cfg config.Config, store audit.Store) error

// ask opens the store of the configuration for reading, beside a running worker, and closes it when do is done.
func ask(command *cobra.Command, do question) error {
	cfg, err := loadConfig(command.Context())
	if err != nil {
		return err
	}
	ctx := command.Context()
	store, err := app.OpenHistory(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, cfg, store), store.Close())
}

// askClaim asks for the records of a claim, oldest first. Where there are none, the error says what may be the reason.
func askClaim(command *cobra.Command, claimID string, do func(records []audit.Record) error) error {
	return ask(command, func(ctx context.Context, cfg config.Config, store audit.Store) error {
		records, err := store.Claim(ctx, claimID)
		switch {
		case err != nil:
			return err
		case len(records) > 0:
			return do(records)
		case !retry.ValidID(claimID):
			return fmt.Errorf("nothing is known of claim %q; a claim is %s; where a policy takes any ids, it is %s", claimID, retry.RuleClaimID, retry.RuleAnyID)
		case !retry.ValidClaimID(claimID): // an id of what is no claim, or a claim's number without its prefix
			return fmt.Errorf("nothing is known of %s in %s: no decision was asked for it, or its retention is over; a claim's id is CLM-<any>-<digits>",
				claimID, cfg.DatabaseURL)
		default:
			return fmt.Errorf("nothing is known of claim %s in %s: no decision was asked for it, or its retention is over", claimID, cfg.DatabaseURL)
		}
	})
}

// place is which record it is and what job it is of: what audit export and history say first of each record.
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

// oneClaim wants the claim as the only argument.
func oneClaim(command *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%s wants one claim, such as CLM-001-7, but got %s", command.CommandPath(), count(len(args), "argument"))}
	}
	return nil
}

// span is a flag for a time that reaches back from now: 7d, 24h or 90m.
type span time.Duration

var spanUnits = map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute}

const day = 24 * time.Hour

// Set reads the notation.
func (s *span) Set(text string) error {
	digits := strings.TrimRight(text, "dhm")
	n, err := strconv.ParseUint(digits, 10, 16)
	unit, known := spanUnits[text[len(digits):]]
	if err != nil || !known || n == 0 {
		return errors.New("give a whole number of days, hours or minutes, such as 7d, 24h or 90m")
	}
	*s = span(time.Duration(n) * unit)
	return nil
}

// String writes it in the largest unit that leaves a whole number.
func (s *span) String() string {
	d := time.Duration(*s)
	for _, unit := range []string{"d", "h"} {
		if d%spanUnits[unit] == 0 {
			return strconv.Itoa(int(d/spanUnits[unit])) + unit
		}
	}
	return strconv.Itoa(int(d/time.Minute)) + "m"
}

// Type names the notation in the help.
func (s *span) Type() string { return "time" }

// plain makes a stored text safe for a terminal: what it cannot show, and what could command it, is replaced.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		default:
			return unicode.ReplacementChar
		}
	}, text)
}

// utc, utcMillis and utcMinutes write an instant for a person.
func utc(t time.Time) string        { return t.UTC().Format("2006-01-02T15:04:05Z") }
func utcMillis(t time.Time) string  { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
func utcMinutes(t time.Time) string { return t.UTC().Format("2006-01-02T15:04Z") }

// lapse words how long something took or takes: 12 s, 48 min, 1 h 05, 3 days.
func lapse(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d/time.Second))
	case d < 2*day:
		return hours(int(d / time.Minute))
	default:
		return fmt.Sprintf("%d days", int(d/day))
	}
}
