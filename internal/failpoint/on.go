//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// ANALYZE_RETRY_FAILPOINTS (not RETRY_..., which the worker would refuse as a setting that it does not know) is a list of
// faults, separated by ";": POINT=ACTION[@CLAIM][#N]. The action is kill (the process, as kill -9 would), panic, hang (for
// ever) or a duration to sleep. CLAIM is a part of the claim id; without it every claim counts. N is which passage is hit;
// without it every one is. A panic's value has ANALYZE_RETRY_FAILPOINT_TEXT in it. At the point "clock" the action is by how much the wall clock is wrong, in whole seconds.
//
//	ANALYZE_RETRY_FAILPOINTS="stored=kill#200;decided=panic@CLM-PANIC;decided=3s@CLM-SLOW;clock=-1h"
type fault struct {
	point, action, claim string
	nth, seen            int
}

var (
	mu     sync.Mutex
	faults = parse(os.Getenv("ANALYZE_RETRY_FAILPOINTS"))
)

func parse(text string) (list []*fault) {
	for part := range strings.SplitSeq(text, ";") {
		if part == "" {
			continue
		}
		f := &fault{}
		var found bool
		if f.point, f.action, found = strings.Cut(part, "="); !found {
			panic(fmt.Sprintf("ANALYZE_RETRY_FAILPOINTS: %q is not POINT=ACTION", part))
		}
		if rest, nth, is := strings.Cut(f.action, "#"); is {
			n, err := strconv.Atoi(nth)
			if err != nil {
				panic(fmt.Sprintf("ANALYZE_RETRY_FAILPOINTS: %q: %v", part, err))
			}
			f.action, f.nth = rest, n
		}
		f.action, f.claim, _ = strings.Cut(f.action, "@")
		list = append(list, f)
	}
	return list
}

// At is a point at which a test may interfere; subject is the claim that is at the point.
func At(point, subject string) {
	for _, action := range due(point, subject) {
		fmt.Fprintf(os.Stderr, "fault: %s at %s of %s\n", action, point, subject)
		switch action {
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "panic":
			panic("fault: " + subject + " " + os.Getenv("ANALYZE_RETRY_FAILPOINT_TEXT"))
		case "hang":
			select {}
		default:
			d, err := time.ParseDuration(action)
			if err != nil {
				panic(fmt.Sprintf("ANALYZE_RETRY_FAILPOINTS: action %q: %v", action, err))
			}
			<-time.After(d)
		}
	}
}

// Now is the wall clock that a job is decided by, wrong by what the fault "clock" says. The monotonic clock is right, as it
// is on a machine whose clock is set: that is why the time is not moved by Add, which moves both.
func Now() time.Time {
	now := time.Now()
	for _, action := range due("clock", "") {
		d, err := time.ParseDuration(action)
		if err != nil {
			panic(fmt.Sprintf("ANALYZE_RETRY_FAILPOINTS: clock %q: %v", action, err))
		}
		// The first word of a [time.Time] holds the seconds of the wall clock in its bits 30 to 62.
		*(*uint64)(unsafe.Pointer(&now)) += uint64(d/time.Second) << 30
	}
	return now
}

func due(point, subject string) (actions []string) {
	mu.Lock()
	defer mu.Unlock()
	for _, f := range faults {
		if f.point != point || !strings.Contains(subject, f.claim) {
			continue
		}
		if f.seen++; f.nth == 0 || f.seen == f.nth {
			actions = append(actions, f.action)
		}
	}
	return actions
}
