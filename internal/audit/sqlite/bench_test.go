package sqlite

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

// BenchmarkAppend appends batches of 20 records and clears the marks of the batch before, on a store that is empty and
// on one that is not. It reports the processor's time for a record, the system's included.
func BenchmarkAppend(b *testing.B) {
	const batch = 20
	for _, rows := range []int{0, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			s := filled(b, rows)
			var answered []int64
			next, before := rows, cpu(b)
			for b.Loop() {
				b.StopTimer()
				start := cpu(b)
				records := audittest.Records(next, next+batch)
				before += cpu(b) - start
				b.StartTimer()
				results, err := s.Append(b.Context(), records, answered)
				must(b, err)
				answered = answered[:0]
				for i := range results {
					answered = append(answered, results[i].Record.ID)
				}
				next += batch
			}
			b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(next-rows), "cpu-ns/row")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(next-rows), "ns/row")
		})
	}
}

// BenchmarkVerify checks a store of a million records.
func BenchmarkVerify(b *testing.B) {
	s := filled(b, 1_000_000)
	for b.Loop() {
		v, err := audit.Verify(b.Context(), s, s.secret.Public(), nil, nil)
		if err != nil || v.Records != 1_000_000 {
			b.Fatal(v, err)
		}
	}
}

// filled is a store with so many records.
func filled(b *testing.B, rows int) *Store {
	b.Helper()
	s := openFile(b, noFile(b).path, audittest.Secret(b))
	start := time.Now()
	must(b, audittest.Fill(b.Context(), s, 0, rows))
	if rows > 0 {
		b.Logf("%d records filled in %v", rows, time.Since(start))
	}
	return s
}

// cpu is the processor's time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkInPlace looks once whether the file is in its place; each append does so twice.
func BenchmarkInPlace(b *testing.B) {
	s := filled(b, 0)
	for b.Loop() {
		must(b, s.InPlace())
	}
}
