// Package check has the two checks that most tests end in.
package check

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Must ends the test unless all errors are nil.
func Must(tb testing.TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

// Same fails the test unless got equals want by [cmp.Diff]. The format and its arguments say what is compared.
func Same[T any](tb testing.TB, want, got T, format string, args ...any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", fmt.Sprintf(format, args...), diff)
	}
}
