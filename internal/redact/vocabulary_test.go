package redact_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/testing/check"
)

// The lists are reviewed by people, and are edited by hand.
func TestWordListsAreClean(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z]{1,48}$`)
	for path, least := range map[string]int{
		"../retry/errtext/tables/vocabulary.txt": 10_000, "testdata/people.txt": 600,
	} {
		list := wordList(t, path)
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) || len(list) < least {
			t.Errorf("%s is not sorted, has a word twice or has only %d words", path, len(list))
		}
		for _, word := range list {
			if !form.MatchString(word) {
				t.Errorf("%s: %q; allowed are the letters a to z", path, word)
			}
		}
	}
}

// A name that is not in the vocabulary needs no care.
func TestNamesOfTheListAreWordsOfTheVocabulary(t *testing.T) {
	t.Parallel()
	vocabulary := wordList(t, "../retry/errtext/tables/vocabulary.txt")
	roles, err := os.ReadFile("../retry/errtext/tables/roles.tsv")
	check.Must(t, err)
	for line := range strings.Lines(string(roles)) {
		word, roles, _ := strings.Cut(line, "\t")
		isName := slices.Contains(strings.Fields(roles), "name")
		if _, is := slices.BinarySearch(vocabulary, word); isName && !is {
			t.Errorf("%s is no word of the vocabulary", word)
		}
	}
}

// people.txt has given names and surnames that are common in Brazil. None of them may survive as a part of a
// name.
func TestNoCommonNameIsKept(t *testing.T) {
	t.Parallel()
	for _, name := range wordList(t, "testdata/people.txt") {
		title := strings.ToUpper(name[:1]) + name[1:]
		for _, text := range []string{"Paciente " + title, "paciente: " + name, "Zyxwq " + title + " inativo", title + " Zyxwq", strings.ToUpper(name) + " DA ZYXWQ"} {
			if got := redact.Text(text); slices.Contains(lettersOf(strings.ToLower(got)), name) {
				t.Errorf("%q becomes %q", text, got)
			}
		}
	}
}

func wordList(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	check.Must(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
