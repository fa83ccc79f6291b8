package cli

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
)

func newAuditExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export CLAIM",
		Short: "Print everything that is stored about a claim, as JSON lines",
		Long: `Prints everything that is stored about a claim, one JSON object for each record,
oldest first: for a data subject who asks what is kept (LGPD, article 18), or
for an auditor. Each record comes with its place in the audit trail and its
hash. Nothing is left out: the store holds no more than this.

It changes nothing and works beside a running worker.`,
		Example: `  worker audit export CLM-ENC-001-1234567890 > claim.jsonl`,
		Args:    oneClaim,
		RunE: func(command *cobra.Command, args []string) error {
			return askClaim(command, args[0], func(records []audit.Record) error {
				for i := range records {
					if err := printLine(command, exportOf(&records[i])); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// exported is a record as it is stored. Its JSON form is stable.
type exported struct {
	place
	// InputsHash is a keyed hash of the job's inputs: nothing can be told from it without the store's key.
	InputsHash    string     `json:"inputsHash"`
	ClaimID       string     `json:"claimId"`
	RetryCount    int        `json:"retryCount"`
	NextRetryTime *time.Time `json:"nextRetryTime"`
	Message       string     `json:"message"`
	Variables     any        `json:"variables"`
	Detail        any        `json:"detail"`
}

func exportOf(r *audit.Record) exported {
	e := exported{
		place:      placeOf(r),
		InputsHash: hex.EncodeToString(r.Inputs[:]), ClaimID: r.ClaimID, RetryCount: r.RetryCount,
		Message: r.Message, Variables: stored(r.Variables), Detail: stored(r.Detail),
	}
	if !r.NextRetryTime.IsZero() {
		e.NextRetryTime = &r.NextRetryTime
	}
	return e
}

// stored is a stored JSON object as it is, null where there is none, and a text where somebody has damaged it: what is
// stored is shown whatever it is.
func stored(text string) any {
	switch {
	case text == "":
		return nil
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	default:
		return text
	}
}
