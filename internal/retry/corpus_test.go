package retry_test

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

// The corpora are tables of error texts: class, rule, code, advice, text, with \n for a line's end. What a
// change of the rules does to them is seen in review: after looking at it, `go test ./internal/retry -run
// Corpus -update` writes the new answers down.

func TestEveryTextOfTheCorpusIsClassifiedAsWrittenDown(t *testing.T) {
	for _, tt := range []struct {
		policy, file string
		least        int
	}{
		{"tiss", "corpus_tiss.tsv", 350},
		{"tiss", "rows_tiss.tsv", 700},
		{"smtp", "corpus_smtp.tsv", 60},
		{"smtp-dev", "corpus_smtp.tsv", 60},
		{"job-queue", "corpus_job-queue.tsv", 20},
		{"fast", "corpus_fast.tsv", 20},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			path := filepath.Join("testdata", tt.file)
			corpus := readCorpus(t, path)
			p := policy.BuiltIn(tt.policy)
			var answers bytes.Buffer
			texts, hit := map[string]int{}, map[string]bool{}
			for _, line := range corpus {
				if line.text == "" {
					fmt.Fprintln(&answers, line.raw)
					continue
				}
				if first := texts[line.text]; first != 0 {
					t.Errorf("%s:%d: the text of line %d again", path, line.number, first)
				}
				texts[line.text] = line.number
				hit[p.Classify(line.text).ID] = true
				got := corpusAnswer(t, p, line.text)
				fmt.Fprintf(&answers, "%s\t%s\n", got, line.escaped)
				if got != line.want {
					t.Errorf("%s:%d: %s\n got %s\nwant %s", path, line.number, line.escaped, spaced(got), spaced(line.want))
				}
			}
			if len(texts) < tt.least {
				t.Errorf("%s: %d texts, want %d at least", path, len(texts), tt.least)
			}
			// Without a text that needs it, a rule could be broken or removed unnoticed.
			for _, r := range p.Rules {
				if !hit[r.ID] && strings.HasPrefix(tt.file, "corpus") {
					t.Errorf("no text is classified by %s", r.ID)
				}
			}
			if *update && strings.HasSuffix(path, tt.policy+".tsv") {
				check.Must(t, os.WriteFile(path, answers.Bytes(), 0o644))
			}
		})
	}
}

// A text of the reading of before has the class that it had, or there is a reason.
func TestEveryClassThatChangedIsArgued(t *testing.T) {
	p := policy.BuiltIn("tiss")
	content, err := os.ReadFile("testdata/before_tiss.tsv")
	check.Must(t, err)
	_, rows, _ := strings.Cut(string(content), "\n")
	for line := range strings.Lines(rows) {
		class, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		why, text, _ := strings.Cut(rest, "\t")
		before := retry.Class(class)
		if now := p.Classify(asWritten.Replace(text)).Class; (now != before) != (why != "") {
			t.Errorf("was %s, is %s, because %q: %s", before, now, why, text)
		}
	}
}

// Texts that were written around rows that no text of the corpora has, short ones, and sentences made of rows
// that say something of others, as exceptions do.
func TestAWrittenOrMadeTextKeepsItsClass(t *testing.T) {
	p := policy.BuiltIn("tiss")
	for _, file := range []string{"testdata/written_tiss.tsv", "testdata/made_tiss.tsv"} {
		for _, row := range check.Rows(t, file, 2) {
			c := p.Classify(row[1])
			if got := strings.TrimSpace(string(c.Class) + " " + c.Team); got != row[0] {
				t.Errorf("%s: is %s by %s, want %s: %s", file, got, c.ID, row[0], row[1])
			}
		}
	}
}

// One rule of inDoubt left out at a time: some text must lose its advice.
func TestEveryInDoubtRuleIsNeededByTheCorpus(t *testing.T) {
	whole := policy.BuiltIn("tiss")
	var advised []corpusLine
	for _, line := range readCorpus(t, filepath.Join("testdata", "corpus_tiss.tsv")) {
		if strings.HasSuffix(line.want, retry.AdviceCheckStatus) {
			advised = append(advised, line)
		}
	}
	for i, left := range whole.InDoubt {
		settings := whole.Settings
		settings.Rules = nil // they give no advice
		settings.InDoubt = slices.Concat(whole.InDoubt[:i], whole.InDoubt[i+1:])
		p, err := new(retry.Policy).Extend(settings)
		check.Must(t, err)
		if !slices.ContainsFunc(advised, func(line corpusLine) bool { return p.Decide(request(line.text, 0), now).Advice == "" }) {
			t.Errorf("no text of the corpus needs %s", left.ID)
		}
	}
}

// The rule finds that an answer names a window, the hint reads it: a window that only one of them sees costs
// all tries.
func TestEveryWindowThatMakesAnAnswerTransientIsAHint(t *testing.T) {
	p := policy.BuiltIn("tiss")
	for _, line := range readCorpus(t, filepath.Join("testdata", "corpus_tiss.tsv")) {
		if line.text == "" {
			continue
		}
		d := p.Decide(request(line.text, 0), now)
		if window := d.Error.ID == "tiss.window"; window != (d.Hint.Source == retry.HintWindow) && d.Error.Class != retry.Permanent {
			t.Errorf("line %d: by %s, hint %q: %s", line.number, d.Error.ID, d.Hint.Source, line.escaped)
		}
	}
}

// What has no class is left out by name, so that a code that a new schema brings is looked at (docs/tiss.md).
func TestWhatTabela38SaysOfPaidAndWaitingHasNoClass(t *testing.T) {
	const leftOut = "1717 1720 1721 1722 1727 1733 1734 1736 1740 1744 1745 2213 3019 3051 3088 3092 3093 3094 3095 3112 3121 " +
		"3136 3137 3143 3144 3158 3163 5011 5013 5016 5017"
	var left []string
	for _, row := range errtext.TableOf(errtext.TableGlosas).Rows {
		if row.Class == "" {
			left = append(left, row.Code)
		}
	}
	if got := strings.Join(left, " "); got != leftOut {
		t.Errorf("no class for\n%s, want\n%s", got, leftOut)
	}
}

// Insurers send the code in its element, and hospital systems write it before its term.
func TestTabela38CodeIsReadInItsElementAndBeforeItsTerm(t *testing.T) {
	p := policy.BuiltIn("tiss")
	plain := strings.NewReplacer("á", "a", "â", "a", "ã", "a", "à", "a", "é", "e", "ê", "e", "í", "i", "ó", "o", "ô", "o", "õ", "o", "ú", "u", "ç", "c")
	for _, row := range errtext.TableOf(errtext.TableGlosas).Rows {
		code, term, want := row.Code, row.Term, cmp.Or(retry.Class(row.Class), retry.Unknown)
		for _, text := range []string{
			"<ans:codigoGlosa>" + code + "</ans:codigoGlosa><ans:descricaoGlosa>" + term + "</ans:descricaoGlosa>",
			code + " - " + term,
			"lote 12: " + code + " - " + plain.Replace(strings.ToLower(term)),
		} {
			if got := p.Classify(text); got.Class != want {
				t.Errorf("%s: %s by %s, want %s", text, got.Class, got.ID, want)
			}
		}
	}
}

// The trap of the documents' "contains": a claim number with 503 in it is the HTTP code to them. To the new
// rules it is not. Databases, programs and insurers have error numbers of their own; a false permanent stops
// a claim that would have passed.
func TestANumberThatIsNoCodeStopsNoClaim(t *testing.T) {
	p := policy.BuiltIn("tiss")
	for i, sentence := range []string{
		"guia # não enviada", "Guia: #", "protocolo 2026/# em aberto", "CLM-HOSP-#", "conta #77 e conta 77#", "carteira 0.064.#.771", "total R$ 1.#,90",
		"<valorGlosa>#.00</valorGlosa>", "processado em # ms", "versão 4.#", "às 10:#", "glosa #,00", "codigoGlosa: #99", "status do lote: # itens",
		"https://ws.operadora.example:#/tiss/#", "item #: consulta",
	} {
		for _, code := range someCodes(i) {
			text := strings.ReplaceAll(sentence, "#", code)
			if strings.Contains(text, "503") || strings.Contains(text, "504") {
				continue // the documents' own
			}
			if d := p.Decide(request(text, 0), now); d.Error.Class != retry.Unknown || d.Advice != "" {
				t.Errorf("%q: %s by %s, advice %q", text, d.Error.Class, d.Error.ID, d.Advice)
			}
		}
	}
	for i, sentence := range []string{
		"Erro # - Falha na comunicação com a operadora", "# - Timeout", "Error # (HY000): Lock wait timeout exceeded", "Código #: conexão perdida",
		"ORA-0#: erro do banco", "Msg #, Level 13, State 51", "Erro # - Operadora fora do ar", "errno #: Network is unreachable",
		"Erro #: Requisição não processada", "Erro # - Localhost recusou", "Erro # - Registro em uso",
	} {
		for _, code := range someCodes(i) {
			text := strings.ReplaceAll(sentence, "#", code)
			if got := p.Classify(text); got.Class == retry.Permanent {
				t.Errorf("%q is PERMANENT by %s", text, got.ID)
			}
		}
	}
}

// someCodes are a tenth of the codes of glosas and of HTTP, another tenth for every turn: what holds of one
// holds of all, and each has its turn.
func someCodes(turn int) (some []string) {
	for _, table := range []string{errtext.TableGlosas, errtext.TableHTTP} {
		for i, row := range errtext.TableOf(table).Rows {
			if (i+turn)%10 == 0 {
				some = append(some, row.Code)
			}
		}
	}
	return some
}

type corpusLine struct {
	number                   int
	raw, want, escaped, text string
}

// readCorpus reads a corpus with its comments, whose text is empty.
var asWritten = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t")

func readCorpus(t *testing.T, path string) (lines []corpusLine) {
	t.Helper()
	content, err := os.ReadFile(path)
	check.Must(t, err)
	s := bufio.NewScanner(bytes.NewReader(content))
	for number := 1; s.Scan(); number++ {
		line := corpusLine{number: number, raw: s.Text()}
		if line.raw != "" && !strings.HasPrefix(line.raw, "#") {
			fields := strings.SplitN(line.raw, "\t", 5)
			if len(fields) != 5 || fields[4] == "" {
				t.Fatalf("%s:%d: must be class, rule, code, advice and text with a tab between them", path, number)
			}
			line.want, line.escaped = strings.Join(fields[:4], "\t"), fields[4]
			line.text = asWritten.Replace(line.escaped)
		}
		lines = append(lines, line)
	}
	return lines
}

// corpusAnswer is what the policy answers, as a corpus has it. All but the error text is the same for every
// text.
func corpusAnswer(t *testing.T, p *retry.Policy, text string) string {
	t.Helper()
	found := p.Classify(text)
	d := p.Decide(request(text, 0), now)
	return strings.Join([]string{string(found.Class), found.ID, found.Code, d.Advice}, "\t")
}

func spaced(answer string) string { return strings.ReplaceAll(answer, "\t", " | ") }
