//go:build faults

package faults

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ANALYZE_RETRY_FAULTS (not RETRY_..., which the worker would refuse as a setting that it does not know) is a list of faults, separated by ";": POINT=ACTION[@CLAIM][#N]. The action is kill (the process, as
// kill -9 would), panic, hang (for ever) or a duration to sleep. CLAIM is a part of the claim id; without it every claim
// counts. N is which passage is hit; without it every one is.
//
//	ANALYZE_RETRY_FAULTS="stored=kill#200;decided=panic@CLM-PANIC;decided=3s@CLM-SLOW"
type fault struct {
	point, action, claim string
	nth, seen            int
}

var (
	mu     sync.Mutex
	faults = parse(os.Getenv("ANALYZE_RETRY_FAULTS"))
)

func parse(text string) (list []*fault) {
	for part := range strings.SplitSeq(text, ";") {
		if part == "" {
			continue
		}
		f := &fault{}
		var found bool
		if f.point, f.action, found = strings.Cut(part, "="); !found {
			panic(fmt.Sprintf("ANALYZE_RETRY_FAULTS: %q is not POINT=ACTION", part))
		}
		if rest, nth, is := strings.Cut(f.action, "#"); is {
			n, err := strconv.Atoi(nth)
			if err != nil {
				panic(fmt.Sprintf("ANALYZE_RETRY_FAULTS: %q: %v", part, err))
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
			panic("fault: " + subject)
		case "hang":
			select {}
		default:
			d, err := time.ParseDuration(action)
			if err != nil {
				panic(fmt.Sprintf("ANALYZE_RETRY_FAULTS: action %q: %v", action, err))
			}
			<-time.After(d)
		}
	}
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
