package retry_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
)

func jittered(share float64, changes ...func(*retry.Settings)) []func(*retry.Settings) {
	return append(changes, func(p *retry.Settings) { p.Jitter = share })
}

func TestBandOfWaits(t *testing.T) {
	millisecondsFromOneSecond := func(p *retry.Settings) {
		byMillisecond(p)
		p.Base = time.Second
	}
	for _, tt := range []struct {
		name       string
		changes    []func(*retry.Settings)
		retryCount int
		from, to   time.Duration
		bounds     string // of a wait drawn from it
	}{
		{"a fifth, at min", jittered(0.2), 0, minutes(5), minutes(6), "[MIN]"},
		{"a fifth, at max", jittered(0.2), 9, minutes(192), minutes(240), "[MAX]"},
		{"milliseconds", jittered(0.25, millisecondsFromOneSecond), 0, 750 * time.Millisecond, 1250 * time.Millisecond, "[]"},
		{"no whole unit between: the next longer one", jittered(0.01, func(p *retry.Settings) { p.Base = 330 * time.Second }), 0, minutes(6), minutes(6), "[]"},
		{"factor 1", jittered(0, func(p *retry.Settings) { p.Factor = 1 }), math.MaxInt32, minutes(5), minutes(5), "[]"},
		{"factor 1.1, which no float holds", jittered(0, bySecond, func(p *retry.Settings) { p.Factor, p.Base = 1.1, 1000*time.Second }), 3, 1331 * time.Second, 1331 * time.Second, "[]"},
		{"a count without end", jittered(0.2, func(p *retry.Settings) { p.Factor = 1000 }), math.MaxInt32, minutes(192), minutes(240), "[MAX]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plain(t, append(tt.changes, func(p *retry.Settings) { p.MaxRetries = retry.RetriesCeiling })...)
			if from, to, _ := p.Band(tt.retryCount); from != tt.from || to != tt.to {
				t.Errorf("%v..%v, want %v..%v", from, to, tt.from, tt.to)
			}
			if tt.retryCount >= p.MaxRetries {
				return
			}
			if got := fmt.Sprint(answer(t, p, request("BUSY", tt.retryCount)).Bounds); got != tt.bounds {
				t.Errorf("bounds %s, want %s", got, tt.bounds)
			}
		})
	}
}

// A float of nanoseconds is not exact. A millionth of a second too much would make the band of a delay a unit
// narrower.
func TestTheShareOfEveryDelayIsExact(t *testing.T) {
	const year = int64(366 * 24 * time.Hour / time.Millisecond)
	p := plain(t, func(p *retry.Settings) {
		p.Precision, p.Min, p.Max = time.Millisecond, time.Millisecond, time.Duration(year)*time.Millisecond
	})
	for thousandths := range int64(1001) {
		p.Jitter = float64(thousandths) / 1000
		for _, d := range []int64{1000, 300_000, 14_400_000, year/2 - 7000*thousandths, year - 7_919_000*thousandths} {
			p.Base = time.Duration(d) * time.Millisecond
			wantFrom := time.Duration((d*(1000-thousandths)+999)/1000) * time.Millisecond // rounded up
			wantTo := time.Duration(d*(1000+thousandths)/1000) * time.Millisecond
			if from, to, _ := p.Band(0); from != max(wantFrom, p.Min) || to != min(wantTo, p.Max) {
				t.Fatalf("%d thousandths of %v: %v..%v, want %v..%v", thousandths, p.Base, from, to, wantFrom, wantTo)
			}
		}
	}
}

func TestDelayIsBaseTimesFactorToTheCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		n := rapid.IntRange(0, 60).Draw(t, "retryCount")
		exact, factor := new(big.Float).SetInt64(int64(p.Base)), big.NewFloat(p.Factor)
		for range n {
			exact.Mul(exact, factor)
		}
		if exact.Cmp(new(big.Float).SetInt64(int64(p.Max))) > 0 {
			exact.SetInt64(int64(p.Max))
		}
		ns, _ := exact.Int64()
		if off := p.Delay(n) - time.Duration(ns); off < -time.Millisecond || off > time.Millisecond {
			t.Fatalf("%v, want %v", p.Delay(n), time.Duration(ns))
		}
	})
}

// RN-BIL-004 V4: over many claims every unit of the band is drawn equally often. The figure is chi-square;
// the draw is a hash, so a policy either passes always or never.
func TestJitterFillsItsBandEvenly(t *testing.T) {
	const claims = 20_000
	for unit, change := range map[string]func(*retry.Settings){
		"minutes": func(p *retry.Settings) { p.Base = minutes(40) },
		// The bounds cut the band: no claims may pile up on Min or Max.
		"minutes at max": func(p *retry.Settings) { p.Base = p.Max },
		"milliseconds":   func(p *retry.Settings) { byMillisecond(p); p.Base = 100 * time.Millisecond },
	} {
		t.Run(unit, func(t *testing.T) {
			p := plain(t, jittered(0.25, change)...)
			seen := map[time.Duration]int{}
			for i := range claims {
				r := request("BUSY", 0)
				r.ClaimID = fmt.Sprintf("CLM-%06d-1", i)
				seen[p.Backoff(r)]++
			}
			from, to, _ := p.Band(0)
			units := float64((to-from)/p.Precision) + 1
			expected, chi2 := claims/units, 0.0
			for wait := from; wait <= to; wait += p.Precision {
				chi2 += (float64(seen[wait]) - expected) * (float64(seen[wait]) - expected) / expected
				delete(seen, wait)
			}
			if len(seen) > 0 {
				t.Errorf("waits outside of %v..%v: %v", from, to, seen)
			}
			// Four standard deviations above what an even draw gives.
			if most := units - 1 + 4*math.Sqrt(2*(units-1)); chi2 > most {
				t.Errorf("chi-square %.0f over %.0f units, want at most %.0f", chi2, units, most)
			}
		})
	}
}
