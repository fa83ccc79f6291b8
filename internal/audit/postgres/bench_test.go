package postgres_test

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// BenchmarkAppend measures the time of a record, of this process and by the clock, by how many are appended together and
// how many are there already. The mark of each is cleared by the next append, as in the service.
// AUDIT_BENCH_ROWS=1000000 adds a store with so many.
func BenchmarkAppend(b *testing.B) {
	stored := []int{0}
	if rows, err := strconv.Atoi(os.Getenv("AUDIT_BENCH_ROWS")); err == nil {
		stored = append(stored, rows)
	}
	for _, rows := range stored {
		s := open(b, devpostgres.Database(b), audittest.Secret(b))
		must(b, audittest.Fill(b.Context(), s, 0, rows))
		for _, size := range []int{1, 16, 50} {
			b.Run(fmt.Sprintf("to %d records, %d at a time", rows, size), func(b *testing.B) {
				records := audittest.Records(rows, rows+b.N*size)
				rows += len(records)
				var answered []int64
				before := cpu(b)
				b.ResetTimer()
				for i := range b.N {
					appended, err := s.Append(b.Context(), records[i*size:(i+1)*size], answered)
					must(b, err)
					answered = answered[:0]
					for _, a := range appended {
						answered = append(answered, a.Record.ID)
					}
				}
				b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(len(records)), "cpu-us/record")
				b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(len(records)), "us/record")
			})
		}
	}
}

// BenchmarkVerify checks a chain of a million records.
func BenchmarkVerify(b *testing.B) {
	const records = 1_000_000
	key := audittest.Secret(b)
	s := open(b, devpostgres.Database(b), key)
	must(b, audittest.Fill(b.Context(), s, 0, records))
	before := cpu(b)
	b.ResetTimer()
	for range b.N {
		if v, err := audit.Verify(b.Context(), s, key.Public(), nil, nil); err != nil || v.Records != records {
			b.Fatal(v.Records, err)
		}
	}
	b.ReportMetric((cpu(b)-before).Seconds()/float64(b.N), "cpu-s/op")
}

// cpu is the time that this process has spent computing.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	must(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
