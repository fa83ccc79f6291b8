package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// decimal is how a number is written: -1, 0.2, .5, 1000.
var decimal = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*|(?:0|[1-9][0-9]*)?\.[0-9]+)$`)

// oddNumber is a number that is not written in plain decimal digits. YAML takes 010 for 8, 0x10 for 16 and 1_000 for 1000.
type oddNumber struct {
	path    []string
	line    int
	written string
	// value is what YAML takes it for.
	value any
}

// oddNumbers notes the odd numbers. Where the schema has refused one already, for example because a text belongs there,
// that fault says more.
func (r *reader) oddNumbers() {
	for _, odd := range r.odd {
		if slices.Contains(r.paths, strings.Join(odd.path, "/")) {
			continue
		}
		subject := (&violation{path: odd.path}).subject()
		r.fault(odd.path, odd.line, fmt.Sprintf("%s is %s, which YAML reads as %v: write it in plain decimal digits, without leading zeros, prefix, underscore, exponent or +",
			subject, short(odd.written), odd.value))
	}
}
