package errtext_test

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/testing/check"
)

func anyKind(errtext.Kind) bool { return true }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// words is what a text has, in words.
func words(text string) string {
	t := errtext.Read(text)
	defer t.Free()
	var all []string
	for _, e := range t.Evidence(anyKind, true) {
		all = append(all, e.Found)
	}
	return strings.Join(all, "; ")
}

func TestCodesAreFoundWhereTheTextNamesThem(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(t, "testdata/codes.tsv", 2) {
		if got := cmp.Or(words(row[1]), "none"); got != row[0] {
			t.Errorf("%s\n has %s,\nwant %s", row[1], got, row[0])
		}
	}
}

func TestWordsAreFoundWhereverTheyEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"SERVIÇO INDISPONÍVEL", "ServicoIndisponivel", "SERVICO_INDISPONIVEL", `x\nindisponivel`} {
		if got := words(text); !strings.Contains(got, `"indispon*" (away)`) {
			t.Errorf("%q has %s", text, got)
		}
	}
	for _, text := range []string{"indis\u0440onivel", "indis ponivel", "in.disponivel"} { // a Cyrillic letter, other words
		if got := words(text); got != "" {
			t.Errorf("%q has %s", text, got)
		}
	}
}

// Personal data may leave the package by redaction only.
func TestWordsAreNeverAPieceOfTheText(t *testing.T) {
	t.Parallel()
	got := words("nao consta Maria Pedrosa no cadastro; servidor Zuleide Lima nao encontrado; tempo da Ana excedido")
	for _, name := range []string{"Maria", "Pedrosa", "Zuleide", "Lima", "Ana"} {
		if strings.Contains(got, name) {
			t.Errorf("%s has %s", got, name)
		}
	}
	if !strings.Contains(got, `"servidor .. nao encontrado" (connect)`) {
		t.Errorf("has %s", got)
	}
}

func TestOnlyTheBeginningIsRead(t *testing.T) {
	t.Parallel()
	if got := words(strings.Repeat(".", errtext.MaxBytes-8) + "HTTP 401"); got != "HTTP 401, Unauthorized" {
		t.Errorf("the last of it: %q", got)
	}
	if got := words(strings.Repeat(".", errtext.MaxBytes-7) + "HTTP 401"); got != "" {
		t.Errorf("behind it: %q", got)
	}
}

// What was read of a page is used again for the next one. Memory of its own for each page would be 20
// allocations or more.
func TestPagesShareTheirMemory(t *testing.T) {
	for _, piece := range []string{"A ", "timeout fora do ar ", "1308 <br> 503 "} {
		page := strings.Repeat(piece, errtext.MaxBytes/len(piece))
		least := math.Inf(1)
		for range 20 { // under the race detector a pool forgets every fourth
			least = min(least, testing.AllocsPerRun(1, func() { errtext.Read(page).Free() }))
		}
		if least > 1 {
			t.Errorf("at least %v allocations for a page of %q", least, piece)
		}
	}
}

// The tables are data: what is wrong in them must not wait for a text.
func TestTheTablesAreWhole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tabela-38", "http", "smtp", "exceptions", "terms", "nouns", "marks", "answers"} {
		table := errtext.TableOf(name)
		seen := map[string]bool{}
		for i := range table.Rows {
			r := &table.Rows[i]
			key := r.Code + " " + r.Term + " " + r.Sign
			if seen[key] {
				t.Errorf("%s: %s stands there twice", table.Name, key)
			}
			seen[key] = true
			if r.Term == "" || r.Class != "" && r.Class != "PERMANENT" && r.Class != "TRANSIENT" {
				t.Errorf("%s: row %d, %s, lacks its term, or has an odd class", table.Name, i+2, key)
			}
			if r.Code != "" && strings.Trim(r.Code, "0123456789") != "" {
				t.Errorf("%s: the code %s is no number", table.Name, r.Code)
			}
		}
		if len(table.Rows) == 0 {
			t.Errorf("%s is empty", table.Name)
		}
	}
}

// Each row of the terms is found in the text that is its own phrase, with stems in a longer word.
func TestEveryTermIsFoundInItself(t *testing.T) {
	t.Parallel()
	for _, name := range []string{errtext.TableTerms, errtext.TableExceptions} {
		for _, r := range errtext.TableOf(name).Rows {
			text := strings.NewReplacer("*", "qq", " .. ", " x y ", "#", "7").Replace(r.Term)
			x := errtext.Read(text)
			found := false
			for i := range x.Pieces {
				row := x.Pieces[i].Row()
				found = found || row != nil && row.Term == r.Term
			}
			if x.Free(); !found {
				t.Errorf("%s: %q is not found in %q: %s", name, r.Term, text, words(text))
			}
		}
	}
}
