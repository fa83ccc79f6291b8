package text_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/text"
)

func TestHangingIndentsFurtherLinesByItsHead(t *testing.T) {
	got := text.Hanging("Über: ", strings.Repeat("word ", 20))
	want := "Über: " + strings.Repeat("word ", 14) + "word\n      " + strings.Repeat("word ", 4) + "word\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := text.Hanging("Empty: ", ""); got != "Empty:\n" {
		t.Errorf("got %q", got)
	}
}

func TestTableAlignsColumns(t *testing.T) {
	got := text.Table(" ", [][]string{{"A", "B", "C"}, {"é", "long", ""}, {"...", "", ""}})
	if want := " A    B     C\n é    long\n ...\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOnlyTheLastCellOfARowIsBroken(t *testing.T) {
	got := text.Table("", [][]string{{"as it is:  " + strings.Repeat("word ", 20)}, {"A", "two  spaces " + strings.Repeat("word ", 20)}})
	want := "as it is:  " + strings.Repeat("word ", 19) + "word\nA  two  spaces " + strings.Repeat("word ", 12) + "word\n   " + strings.Repeat("word ", 6) + "word\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestShortenEndsWithThreeDots(t *testing.T) {
	for s, want := range map[string]string{"çççççç": "çççççç", "ççççççç": "ççç..."} {
		if got := text.Shorten(s, 6); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
