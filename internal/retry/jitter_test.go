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

func TestABandWithoutAWholeUnitIsTheNextLongerOne(t *testing.T) {
	p := plain(t, func(p *retry.Settings) { p.Base, p.Jitter = retry.Duration(330*time.Second), 0.01 })
	if from, to, _ := p.Band(0); from != minutes(6) || to != minutes(6) {
		t.Errorf("%v..%v, want 6 minutes", from, to)
	}
}

func TestAFactorThatNoFloatHoldsMakesNoWaitLonger(t *testing.T) {
	p := plain(t, bySecond, func(p *retry.Settings) { p.Factor, p.Base = 1.1, retry.Duration(1000*time.Second) })
	if from, to, _ := p.Band(3); from != 1331*time.Second || to != from {
		t.Errorf("%v..%v, want 1331 seconds", from, to)
	}
}

// A float of nanoseconds is not exact. A millionth of a second too much would make the band of a delay a unit
// narrower.
func TestTheShareOfEveryDelayIsExact(t *testing.T) {
	const year = int64(366 * 24 * time.Hour / time.Millisecond)
	p := plain(t, func(p *retry.Settings) {
		byMillisecond(p)
		p.Max = retry.Duration(year * int64(time.Millisecond))
	})
	for thousandths := range int64(1001) {
		p.Jitter = float64(thousandths) / 1000
		for _, d := range []int64{1000, 300_000, 14_400_000, year/2 - 7000*thousandths, year - 7_919_000*thousandths} {
			p.Base = retry.Duration(d * int64(time.Millisecond))
			wantFrom := time.Duration((d*(1000-thousandths)+999)/1000) * time.Millisecond // rounded up
			wantTo := time.Duration(d*(1000+thousandths)/1000) * time.Millisecond
			if from, to, _ := p.Band(0); from != max(wantFrom, time.Duration(p.Min)) || to != min(wantTo, time.Duration(p.Max)) {
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
	for name, change := range map[string]func(*retry.Settings){
		"minutes": func(p *retry.Settings) { p.Base = retry.Duration(minutes(40)) },
		// The bounds cut the band: no claims may pile up on Min or Max.
		"minutes at max": func(p *retry.Settings) { p.Base = p.Max },
		"milliseconds":   func(p *retry.Settings) { byMillisecond(p); p.Base = retry.Duration(100 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			p := plain(t, change, func(p *retry.Settings) { p.Jitter = 0.25 })
			seen := map[time.Duration]int{}
			for i := range claims {
				r := request("BUSY", 0)
				r.ClaimID = fmt.Sprintf("CLM-%06d-1", i)
				seen[p.Decide(r, now).Backoff]++
			}
			from, to, _ := p.Band(0)
			units := float64((to-from)/unit(p)) + 1
			expected, chi2 := claims/units, 0.0
			for wait := from; wait <= to; wait += unit(p) {
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
