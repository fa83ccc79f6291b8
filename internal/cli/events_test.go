package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestTailShowsEachEventOnceInOrder(t *testing.T) {
	const records = 2500 // more than two pages, and many at the same time
	var all []audit.Record
	for i := range records {
		r := rejected("", "2026-01-12T09:30:00Z")
		r.ClaimID, r.At = fmt.Sprintf("CLM-many-%d", i), r.At.Add(time.Duration(i/400)*time.Microsecond)
		r.Inputs[1] = byte(i / 256)
		all = append(all, r)
	}
	a := archived(t, keyed(all))
	lines := strings.Split(strings.TrimSpace(a.must(t, "events", "tail")), "\n")
	check.Same(t, records, len(lines), "lines")
	for i, line := range lines {
		if !strings.Contains(line, fmt.Sprintf(`"subject":"CLM-many-%d"`, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
}
