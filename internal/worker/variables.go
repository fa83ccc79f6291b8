package worker

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/job"
)

// variables are the process variables of a job with their values as they came; nil where they are no JSON object.
//
// They are taken apart here because it is done for every job and encoding/json needs five times as long for it, into a
// map, or matches the fields of a struct regardless of case, which process variables are not. What is JSON and what a
// value says is left to encoding/json.
type variables []variable

type variable struct {
	name  string
	value string // JSON, a part of the job's text
}

// parse takes the variables of a job apart.
func parse(j *job.Job) variables {
	if !json.Valid([]byte(j.Variables)) {
		return nil
	}
	text := strings.TrimLeft(j.Variables, space)
	if text[0] != '{' {
		return nil
	}
	v := make(variables, 0, 8)
	rest := strings.TrimLeft(text[1:], space)
	for rest[0] != '}' {
		if rest[0] == ',' {
			rest = strings.TrimLeft(rest[1:], space)
		}
		end := endOfText(rest)
		name := rest[:end]
		rest = strings.TrimLeft(rest[end:], space)[1:] // behind the colon
		rest = strings.TrimLeft(rest, space)
		end = endOfValue(rest)
		v = append(v, variable{unquote(name), rest[:end]})
		rest = strings.TrimLeft(rest[end:], space)
	}
	return v
}

const space = " \t\r\n"

// get returns the value of a variable, "" where there is none. Of two with one name the last one counts.
func (v variables) get(name string) string {
	for _, one := range slices.Backward(v) {
		if one.name == name {
			return one.value
		}
	}
	return ""
}

// inputs are what the decision about a job depends on, for its key: the named variables as they came, or all of it
// where that is no JSON object. Which other variables a gateway sends along, and in which order, makes no difference.
func (v variables) inputs(j *job.Job, names []string) []string {
	if v == nil {
		return []string{j.Variables}
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = v.get(name)
	}
	return parts
}

// endOfText is the length of the JSON string that the text, which is valid JSON, begins with.
func endOfText(text string) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// endOfValue is the length of the value that the text, which is valid JSON inside of an object, begins with.
func endOfValue(text string) int {
	switch text[0] {
	case '"':
		return endOfText(text)
	case '{', '[':
	default:
		return strings.IndexAny(text, ",}"+space)
	}
	for i, depth := 0, 0; ; i++ {
		switch text[i] {
		case '"':
			i += endOfText(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// unquote is what a JSON string says.
func unquote(quoted string) string {
	if plain := quoted[1 : len(quoted)-1]; strings.IndexByte(plain, '\\') < 0 && utf8.ValidString(plain) {
		return plain
	}
	var text string
	if err := json.Unmarshal([]byte(quoted), &text); err != nil {
		panic("worker: a valid JSON string cannot be read: " + err.Error()) // cannot happen
	}
	return text
}
