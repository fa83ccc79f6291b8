package modellint

import (
	"regexp"
	"slices"
	"strings"
)

// Only what the rules need is read of FEEL: which variables an expression names, and its texts in quotes.

var (
	feelText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	feelName = regexp.MustCompile(`(\.\s*)?([\pL_][\pL\pN_]*)`)
)

// expression returns the FEEL of an attribute; is reports whether it is one. Zeebe takes a value without "=" as a plain text.
func expression(value string) (feel string, is bool) {
	return strings.CutPrefix(strings.TrimSpace(value), "=")
}

// names returns the variables that an expression reads: of a.b only a. Function names are among them.
func names(feel string) (found []string) {
	for _, name := range feelName.FindAllStringSubmatch(feelText.ReplaceAllString(feel, " "), -1) {
		if name[1] == "" && !slices.Contains(found, name[2]) {
			found = append(found, name[2])
		}
	}
	return found
}

// texts returns the texts in quotes of an expression.
func texts(feel string) (found []string) {
	for _, text := range feelText.FindAllString(feel, -1) {
		found = append(found, text[1:len(text)-1])
	}
	return found
}

// reads reports whether an expression reads a variable.
func reads(feel, variable string) bool { return slices.Contains(names(feel), variable) }
