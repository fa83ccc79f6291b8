// Package e2e holds the tests of the whole: the worker's binary, the bundled models and a real Zeebe broker.
//
// One broker serves the ordinary cases; those that kill or flood a broker start their own. The variable
// ZEEBE_TEST_VERSION picks its version; for some that is an engine in Camunda's test gateway (test/engines). With
// ZEEBE_TEST_TRANSPORT=rest the workers use the REST API. What the tests claim about an outcome is what the broker holds: the jobs
// that follow, the records it exported, its variables, never what the worker says about itself. Without a broker the run
// fails. A test prints what it leaves out because the version under test lacks it (suite.LeavesOut).
//
// The tests run one after the other because they move the clock of the broker they share.
package e2e
