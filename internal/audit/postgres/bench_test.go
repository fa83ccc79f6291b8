package postgres_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/devpostgres"
)

// BenchmarkAppend tells what a record costs this process and how long it takes, by how many are appended together. The
// mark of each is cleared by the next append, as in the service.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int64{1, 16, 50} {
		b.Run(fmt.Sprintf("%d at a time", size), func(b *testing.B) {
			s := open(b, devpostgres.Database(b), secret(b))
			var answered []int64
			before, job := cpu(b), int64(0)
			b.ResetTimer()
			for range b.N {
				appended, err := s.Append(b.Context(), decisions(job, job+size), answered)
				if err != nil {
					b.Fatal(err)
				}
				job += size
				answered = answered[:0]
				for _, a := range appended {
					answered = append(answered, a.Record.ID)
				}
			}
			b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(job), "cpu-us/record")
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(job), "us/record")
		})
	}
}

// BenchmarkVerify checks a chain of a million records.
func BenchmarkVerify(b *testing.B) {
	const records = 1_000_000
	key := secret(b)
	s := open(b, devpostgres.Database(b), key)
	for job := int64(0); job < records; job += 5000 {
		mustAppend(b, s, decisions(job, job+5000)...)
	}
	b.ResetTimer()
	for range b.N {
		if v, err := audit.Verify(b.Context(), s, key.Public(), nil, nil); err != nil || v.Records != records {
			b.Fatal(v.Records, err)
		}
	}
}

// cpu is the time that this process has spent computing.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
