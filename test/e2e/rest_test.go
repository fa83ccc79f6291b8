package e2e

import (
	"strings"
	"testing"
)

// TestOverREST runs tests again with workers that use the REST API: the systems of the seeds, and what
// depends on the transport.
func TestOverREST(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"Seed000 retried, then permanent": TestSeed000ClaimIsRetriedThenStoppedByAPermanentError,
		"Seed001 two rules":               TestSeed001OlderRuleAnswersAndCountsApartFromTheNewer,
		"Seed001 exhausted":               TestSeed001ExhaustedClaimIsSuspendedForBilling,
		"Seed001 permanent":               TestSeed001PermanentErrorIsSuspendedForRegistration,
		"Seed002 three attempts":          TestSeed002JobHasThreeAttempts,
		"Seed002 sent again":              TestSeed002DeadLetterIsSentAgainByHandAndByCommand,
		"Seed002 own limits":              TestSeed002JobBringsItsOwnLimits,
		"Seed002 not tried again":         TestSeed002ValidationErrorIsNotTriedAgain,
		"Seed002 invalid limit":           TestSeed002InvalidLimitIsAnIncidentUntilCorrected,
		"Seed002 hints":                   TestSeed002TaskOverridesItsPolicyAndJobBringsHints,
		"Seed002 wrong header":            TestSeed002WrongHeaderIsAnIncidentThatNamesIt,
		"Seed003 busy server":             TestSeed003BusyMailServerIsTriedAgainWithinSeconds,
		"Seed003 dead letter":             TestSeed003EmailWithNoRetriesLeftIsADeadLetter,
		"Seed003 unknown address":         TestSeed003UnknownAddressIsADeadLetterAtOnce,
		"Seed003 development":             TestSeed003DevelopmentProfileGivesUpEarlier,
		"Seed004 by hand":                 TestSeed004JobIsTriedThreeTimesThenByHand,
		"Seed004 schedule":                TestSeed004ManualRetryKeepsTheScheduleAndTheCount,
		"Seed004 wait":                    TestSeed004WaitIsEndedByHand,

		"absent broker":     TestWorkerWaitsForAnAbsentBroker,
		"deployment":        TestModelsThatAreDeployedAgainGetNoNewVersion,
		"odd inputs":        TestOddInputsEndInAnIncidentOrADecision,
		"undeliverable":     TestUndeliverableVariableIsAnIncidentAndOtherJobsGoOn,
		"redelivery":        TestRedeliveredJobGetsTheSameAnswer,
		"incident":          TestInvalidInputIsAnIncidentUntilCorrected,
		"unknown outcome":   TestUnknownOutcomeIsAnIncidentUntilCorrected,
		"re-drive":          TestOneCommandSendsAllUnknownErrorsAgain,
		"five retries":      TestAfterFiveRetriesTheClaimGoesToBilling,
		"list of claims":    TestClaimIsListedWhereverItIs,
		"cancelled":         TestClaimOfACancelledInstanceIsEndedByAPerson,
		"calling process":   TestCallingProcessCatchesWhatStopsTheRetries,
		"insurers":          TestEachInsurerHasItsPolicy,
		"answer of a human": TestClaimResubmittedByBillingCountsFromTheStart,
	} {
		t.Run(name, test)
	}
}

// overREST reports whether the workers of a test use the REST API, and not gRPC.
func overREST(t *testing.T) bool {
	t.Helper()
	return strings.HasPrefix(t.Name(), "TestOverREST/")
}
