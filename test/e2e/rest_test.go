package e2e

import (
	"strings"
	"testing"
)

// TestOverREST runs tests again with workers that use the REST API: one story of each document, and what depends on the
// transport.
func TestOverREST(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"Seed000":       TestSeed000ClaimIsRetriedThenStoppedByAPermanentError,
		"Seed001":       TestSeed001OlderRuleAnswersAndCountsApartFromTheNewer,
		"Seed002":       TestSeed002DeadLetterIsSentAgainByHandAndByCommand,
		"Seed003":       TestSeed003EmailWithNoRetriesLeftIsADeadLetter,
		"Seed004":       TestSeed004JobIsTriedThreeTimesThenByHand,
		"undeliverable": TestUndeliverableVariableIsAnIncidentAndOtherJobsGoOn,
		"incident":      TestInvalidInputIsAnIncidentUntilCorrected,
	} {
		t.Run(name, test)
	}
}

// overREST reports whether the workers of a test use the REST API, and not gRPC.
func overREST(t *testing.T) bool {
	t.Helper()
	return strings.HasPrefix(t.Name(), "TestOverREST/")
}
