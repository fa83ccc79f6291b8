package cli

// RunAt is Run at a time of the test's own.
var RunAt = runAt
