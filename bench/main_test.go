package main

import (
	"io"
	"slices"
	"testing"
)

func TestTheRowsOfFullStoresGrow(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []int // nil: refused, or none
		ok   bool
	}{
		{nil, []int{1_000_000, 10_000_000}, true},
		{[]string{"-rows", "5"}, []int{5}, true},
		{[]string{"-rows", ""}, nil, true},
		{[]string{"-rounds", "0"}, nil, true}, // there would be nobody to work on them
		{[]string{"-rows", "0"}, nil, false},
		{[]string{"-rows", "10,5"}, nil, false},
		{[]string{"-rows", "5,5"}, nil, false},
		{[]string{"-rows", "1e6"}, nil, false},
	} {
		s, err := parse(tt.args, io.Discard)
		if (err == nil) != tt.ok || tt.ok && !slices.Equal(s.rows, tt.want) {
			t.Errorf("%q: rows %v, %v", tt.args, s.rows, err)
		}
	}
}

func TestAStoreTooLargeForTheDiskIsRefused(t *testing.T) {
	if err := checkRoom(1 << 50); err == nil {
		t.Error("the disk has room for a quadrillion decisions")
	}
	if err := checkRoom(1); err != nil {
		t.Error(err)
	}
}
