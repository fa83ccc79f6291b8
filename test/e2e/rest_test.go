package e2e

import (
	"strings"
	"testing"
)

// TestOverREST runs tests again with workers that use the REST API: one document's story, and that of the others with incidents,
// headers and messages.
func TestOverREST(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"rule":    TestRNBIL005ClaimIsRetriedThenStoppedAndSentAgainByPeople,
		"limits":  TestQueueJobBringsItsOwnLimits,
		"command": TestCommandSendsAClaimAgainFromItsWaitAndFromAPersonsTask,
	} {
		t.Run(name, test)
	}
}

// overREST reports whether the workers of a test use the REST API, and not gRPC.
func overREST(t *testing.T) bool {
	t.Helper()
	return strings.HasPrefix(t.Name(), "TestOverREST/")
}
