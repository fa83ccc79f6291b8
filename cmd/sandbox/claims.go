package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The words of a file of claims.
const (
	accepted  = "OK" // the answer to a claim that the insurer takes
	submitted = "SUBMITTED"
	abandoned = "ABANDONED"
	incident  = "INCIDENT" // a claim that is left as one
	resubmit  = "RESUBMIT"
	abandon   = "ABANDON"
)

// scripted is a claim of the file: what the insurer and people do with it, and how it must end.
type scripted struct {
	Claim   string   `yaml:"claim"`
	Shows   string   `yaml:"shows"`
	Answers []string `yaml:"answers"`
	People  []string `yaml:"people"`
	End     string   `yaml:"end"`
}

// act is one thing that a person does: a decision with its reason, or the correction of a variable.
type act struct{ decision, justification, variable, value string }

func readAct(text string) (a act, ok bool) {
	word, rest, _ := strings.Cut(text, " ")
	if word == resubmit || word == abandon {
		return act{decision: word, justification: rest}, rest != ""
	}
	variable, value, ok := strings.Cut(text, "=")
	return act{variable: variable, value: value}, ok && variable != "" && value != ""
}

// readClaims reads a file of claims. The error names all that is wrong with it.
func readClaims(path string) ([]scripted, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, badInput{fmt.Errorf("read the claims (--claims names another file): %w", err)}
	}
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	var claims []scripted
	if err := decoder.Decode(&claims); err != nil && !errors.Is(err, io.EOF) {
		return nil, badInput{fmt.Errorf("%s cannot be played: %w", path, err)}
	}
	faults := []error{}
	if len(claims) == 0 {
		faults = append(faults, errors.New("there is no claim in the file"))
	}
	seen := map[string]bool{}
	for i, c := range claims {
		for _, fault := range c.faults() {
			faults = append(faults, fmt.Errorf("claim %d, %s: %s", i+1, c.Claim, fault))
		}
		if seen[c.Claim] {
			faults = append(faults, fmt.Errorf("claim %d, %s: its number is there twice", i+1, c.Claim))
		}
		seen[c.Claim] = true
	}
	if err := errors.Join(faults...); err != nil {
		return nil, badInput{fmt.Errorf("%s cannot be played:\n%w", path, err)}
	}
	return claims, nil
}

func (c scripted) faults() (faults []string) {
	if c.Claim == "" {
		faults = append(faults, "it has no number")
	}
	if len(c.Answers) == 0 {
		faults = append(faults, `answers is empty: give one for each submission, OK or the text of an error`)
	}
	if at := slices.Index(c.Answers, accepted); at >= 0 && at < len(c.Answers)-1 {
		faults = append(faults, fmt.Sprintf("answer %d is OK, but a claim that is accepted is not submitted again", at+1))
	}
	for _, text := range c.People {
		if _, ok := readAct(text); !ok {
			faults = append(faults, fmt.Sprintf("%q is nothing that people do: RESUBMIT why, ABANDON why, variable=value", text))
		}
	}
	if !slices.Contains([]string{submitted, abandoned, incident}, c.End) {
		faults = append(faults, fmt.Sprintf("%q is no end; there are %s, %s, %s", c.End, submitted, abandoned, incident))
	}
	return faults
}
