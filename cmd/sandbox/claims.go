package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The words of a file of claims.
const (
	accepted = "OK"       // the answer to a claim that the insurer takes
	incident = "INCIDENT" // the end of a claim that is left as one
	resubmit = "RESUBMIT"
	abandon  = "ABANDON"
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

// readClaims reads a file of claims. Whether its claims can go so, the play shows.
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
	if len(claims) == 0 {
		return nil, badInput{fmt.Errorf("%s has no claim", path)}
	}
	known := map[string]bool{}
	for i, c := range claims {
		if c.Claim == "" || known[c.Claim] {
			return nil, badInput{fmt.Errorf("%s: claim %d of the file has no number, or that of another: %q", path, i+1, c.Claim)}
		}
		known[c.Claim] = true
		for _, text := range c.People {
			if _, ok := readAct(text); !ok {
				return nil, badInput{fmt.Errorf("claim %s: %q is nothing that people do: RESUBMIT why, ABANDON why, variable=value",
					c.Claim, text)}
			}
		}
	}
	return claims, nil
}
