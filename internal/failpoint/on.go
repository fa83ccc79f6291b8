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

// point is one entry of ANALYZE_RETRY_FAILPOINTS, a list separated by ";": POINT=ACTION[@CLAIM][#N]. (A name that begins with
// RETRY_ would be refused as an unknown setting.)
//
//	ANALYZE_RETRY_FAILPOINTS="stored=kill#200;decided=panic@CLM-PANIC;decided=3s@CLM-SLOW;clock=-1h"
//
// ACTION is kill (the process, as kill -9 does), panic (with the text of ANALYZE_RETRY_FAILPOINT_TEXT in its value), hang (for
// ever) or a duration to sleep. At the point "clock" it is how much the wall clock is wrong, in whole seconds. CLAIM is a
// part of a claim id, empty for all claims. N is the passage that is hit, by default every one.
type point struct {
	name, action, claim string
	nth, seen           int
}

var (
	mu     sync.Mutex
	points = parse(os.Getenv("ANALYZE_RETRY_FAILPOINTS"))
)

func parse(text string) (list []*point) {
	for entry := range strings.SplitSeq(text, ";") {
		if entry == "" {
			continue
		}
		name, action, found := strings.Cut(entry, "=")
		if !found {
			panic(fmt.Sprintf("ANALYZE_RETRY_FAILPOINTS: %q is not POINT=ACTION", entry))
		}
		p := &point{name: name}
		action, nth, counted := strings.Cut(action, "#")
		if counted {
			var err error
			if p.nth, err = strconv.Atoi(nth); err != nil {
				panic(fmt.Sprintf("ANALYZE_RETRY_FAILPOINTS: %q: %v", entry, err))
			}
		}
		p.action, p.claim, _ = strings.Cut(action, "@")
		list = append(list, p)
	}
	return list
}

// At acts on the entries for a point that a claim passes.
func At(name, claim string) {
	for _, action := range due(name, claim) {
		fmt.Fprintf(os.Stderr, "fault: %s at %s of %s\n", action, name, claim)
		switch action {
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "panic":
			panic("fault: " + claim + " " + os.Getenv("ANALYZE_RETRY_FAILPOINT_TEXT"))
		case "hang":
			select {}
		default:
			<-time.After(duration(action))
		}
	}
}

// Now returns the time by which jobs are decided: wrong by the action of the point "clock". The monotonic clock is right, as
// on a host whose clock is set: that is why the time is not moved by Add, which moves both.
func Now() time.Time {
	now := time.Now()
	for _, action := range due("clock", "") {
		// The first word of a [time.Time] holds the seconds of the wall clock in its bits 30 to 62.
		*(*uint64)(unsafe.Pointer(&now)) += uint64(duration(action)/time.Second) << 30
	}
	return now
}

func duration(action string) time.Duration {
	d, err := time.ParseDuration(action)
	if err != nil {
		panic(fmt.Sprintf("ANALYZE_RETRY_FAILPOINTS: action %q: %v", action, err))
	}
	return d
}

// due returns the actions for this passage of a point.
func due(name, claim string) (actions []string) {
	mu.Lock()
	defer mu.Unlock()
	for _, p := range points {
		if p.name != name || !strings.Contains(claim, p.claim) {
			continue
		}
		if p.seen++; p.nth == 0 || p.seen == p.nth {
			actions = append(actions, p.action)
		}
	}
	return actions
}
