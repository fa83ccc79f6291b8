// Package check has the checks that most tests end in.
package check

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
)

// TB is what a test of any kind has, those of rapid too.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Must ends the test unless all errors are nil.
func Must(tb TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

// Same fails the test unless got equals want by [cmp.Diff], with protobuf messages compared as such. The format and its
// arguments say what is compared.
func Same[T any](tb testing.TB, want, got T, format string, args ...any) {
	tb.Helper()
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", fmt.Sprintf(format, args...), diff)
	}
}

// Contains fails the test unless the text contains all the parts.
func Contains(tb testing.TB, text string, parts ...string) {
	tb.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			tb.Errorf("%q is not in %.2000q", part, text)
		}
	}
}

// Fails fails the test unless err is an error whose text contains all the parts.
func Fails(tb testing.TB, err error, parts ...string) {
	tb.Helper()
	if err == nil {
		tb.Errorf("no error, want one with %q", parts)
		return
	}
	Contains(tb, err.Error(), parts...)
}

// patience bounds every wait: far more than is needed, for slow machines.
const patience = 2 * time.Minute

// Await waits until a condition holds.
func Await(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(patience); !holds(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("not within %v: %s", patience, what)
		}
	}
}
