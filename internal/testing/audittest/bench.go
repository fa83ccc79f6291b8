package audittest

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Benchmark measures appends, by how many records go together, and a check of all records: on an empty store and, with
// AUDIT_BENCH_ROWS=1000000, on one with so many. The marks of a batch are cleared by the next one, as in the service. It reports
// the time of a record by the clock, and that of this process's processor, the system's included.
func Benchmark(b *testing.B, open func(*testing.B, *audit.Secret) audit.Store) {
	b.Helper()
	stored := []int{0}
	if rows, err := strconv.Atoi(os.Getenv("AUDIT_BENCH_ROWS")); err == nil {
		stored = append(stored, rows)
	}
	for _, rows := range stored {
		secret := Secret(b)
		store := open(b, secret)
		Must(b, Fill(b.Context(), store, 0, rows))
		next := rows
		for _, batch := range []int{1, 20, 50} {
			b.Run(fmt.Sprintf("append/%d to %d", batch, rows), func(b *testing.B) {
				records := Records(next, next+b.N*batch)
				next += len(records)
				var answered []int64
				measured(b, len(records), func(i int) {
					results, err := store.Append(b.Context(), records[i*batch:(i+1)*batch], answered)
					Must(b, err)
					answered = IDs(results)
				})
			})
		}
		b.Run(fmt.Sprintf("verify/%d", next), func(b *testing.B) {
			measured(b, next*b.N, func(int) { Verify(b, store, secret, int64(next)) })
		})
	}
}

// measured calls do b.N times and reports the times of a record.
func measured(b *testing.B, records int, do func(i int)) {
	b.Helper()
	before := cpu(b)
	b.ResetTimer()
	for i := range b.N {
		do(i)
	}
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(records), "cpu-ns/record")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
}

// cpu returns the processor's time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
