package policy_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/retry/policy"
)

// foolish are policies files of somebody who writes YAML for the first time, by what is wrong with them.
var foolish = map[string]string{
	"an empty file":             "",
	"a comment only":            "# policies\n",
	"a list without policies":   "- {name: a, extends: tiss}\n",
	"one policy without a list": "policies: {name: a, extends: tiss}\n",
	"policies by name":          "policies:\n  a: {extends: tiss}\n",
	"tabs":                      "policies:\n\t- name: a\n\t  extends: tiss\n",
	"two documents":             "policies: [{name: a, extends: tiss}]\n---\npolicies: [{name: b, extends: tiss}]\n",
	"a field twice":             "policies: [{name: a, extends: tiss, max: 4h, max: 8h}]\n",
	"a name twice":              "policies: [{name: a, extends: tiss}, {name: a, extends: smtp}]\n",
	"an id twice":               extended("rules: [{id: x, class: TRANSIENT, contains: [PORTAL FECHADO]}, {id: x, class: TRANSIENT, contains: [SITE FECHADO]}]"),
	"no name":                   "policies: [{extends: tiss}]\n",
	"a name with blanks":        "policies: [{name: Minha Política, extends: tiss}]\n",
	"extends of itself":         "policies: [{name: a, extends: a}]\n",
	"extends of nobody":         "policies: [{name: a, extends: TISS 4}]\n",
	"extends of a number":       "policies: [{name: a, extends: 5}]\n",
	"extends of nothing":        "policies: [{name: a, extends: ''}]\n",
	"extends of two":            "policies: [{name: a, extends: [tiss, smtp]}]\n",
	"extends forgotten":         "policies: [{name: a, base: 5m, max: 4h, maxRetries: 5, jitter: 0.2, rules: [{id: x, class: TRANSIENT, contains: [PORTAL FECHADO]}]}]\n",
	"tiss replaced by nothing":  "policies: [{name: tiss, base: 5m, max: 4h, maxRetries: 5, jitter: 0.2, unknown: UNKNOWN}]\n",
	"a value forgotten":         "policies:\n  - name: a\n    extends: tiss\n    maxRetries:\n",
	"a list without items":      extended("rules: [{id: x, class: TRANSIENT, http: [503], contains: }]"),
	"an empty rule":             extended("rules: [{id: x, class: TRANSIENT, contains: [PORTAL FECHADO]}, ~]"),
	"an empty item":             extended("rules: [{id: x, class: TRANSIENT, contains: [PORTAL FECHADO, '']}]"),

	"Portuguese fields":             "policies: [{nome: a, herda: tiss, tentativas: 7}]\n",
	"a Portuguese class":            extended("rules: [{id: x, classe: PERMANENTE, contains: [PORTAL FECHADO]}]"),
	"a class in lower case":         extended("rules: [{id: x, class: transient, contains: [PORTAL FECHADO]}]"),
	"a Portuguese truth":            extended("jobOverrides: sim"),
	"another spelling of inDoubt":   extended("in_doubt: [{id: x, contains: [PORTAL FECHADO]}]"),
	"inDoubt about everything":      extended("inDoubt: [{id: x, contains: [ERRO]}]"),
	"inDoubt with a class":          extended("inDoubt: [{id: x, class: TRANSIENT, contains: [PORTAL FECHADO]}]"),
	"a field at the wrong place":    extended("contains: [PORTAL FECHADO]"),
	"a decimal comma":               extended("jitter: 0,2"),
	"percent":                       extended("jitter: 20%"),
	"percent without the sign":      extended("jitter: 20"),
	"one percent":                   extended("jitter: 1"),
	"no unit":                       extended("base: 5"),
	"a unit in words":               extended("base: 5 minutos"),
	"seconds for minutes":           extended("base: 5s"),
	"base above max":                extended("base: 5h"),
	"min above base":                extended("min: 30m"),
	"min above max":                 extended("min: 5h"),
	"max that is base":              extended("max: 5m"),
	"a factor that reaches max":     extended("factor: 100"),
	"ten times too many retries":    extended("maxRetries: 50"),
	"half of the delay as jitter":   extended("jitter: 0.5"),
	"the wrong parent":              "policies: [{name: a, extends: fast, ids: claim}]\n",
	"fast replaced":                 "policies: [{name: fast, base: 5m, max: 1h, maxRetries: 5, jitter: 0.2, ids: any, unknown: TRANSIENT}]\n",
	"a rule that is there already":  extended("rules: [{id: x, class: TRANSIENT, contains: [TIMEOUT]}]"),
	"no retries":                    extended("maxRetries: 0"),
	"retries for ever":              extended("maxRetries: 1000"),
	"jitter forgotten":              "policies: [{name: a, ids: any, base: 5m, min: 4m, max: 4h, maxRetries: 5, unknown: TRANSIENT}]\n",
	"jitter below nothing":          extended("jitter: -0.2"),
	"an octal number":               extended("maxRetries: 010"),
	"nothing but refusals":          "policies: [{name: a, ids: any, base: 5m, max: 4h, maxRetries: 5, jitter: 0, unknown: PERMANENT, rules: [{id: x, class: PERMANENT, contains: [FECHADO]}]}]\n",
	"half a retry":                  extended("maxRetries: 2.5"),
	"retries in words":              extended("maxRetries: cinco"),
	"a deadline before the first":   extended("deadline: 3m"),
	"a deadline after the first":    extended("deadline: 10m"),
	"a zone that there is not":      extended("timeZone: Brasilia"),
	"unknown stops":                 extended("unknown: PERMANENT"),
	"a target without a bound":      extended("targets: [{kpi: claimsLost, target: 3%}]"),
	"a text for a list":             extended("rules: [{id: x, class: TRANSIENT, contains: PORTAL FECHADO}]"),
	"a list of lists":               extended("rules: [{id: x, class: TRANSIENT, contains: [[PORTAL FECHADO]]}]"),
	"one text for all":              extended(`rules: [{id: x, class: TRANSIENT, contains: ["PORTAL FECHADO, SITE FECHADO"]}]`),
	"typographic quotes":            extended("rules: [{id: x, class: TRANSIENT, contains: [“PORTAL FECHADO”]}]"),
	"a regular expression":          extended(`rules: [{id: x, class: TRANSIENT, contains: ["PORTAL.*FECHADO"]}]`),
	"everything by an expression":   extended(`rules: [{id: x, class: PERMANENT, contains: [".*"]}]`),
	"an expression in slashes":      extended(`rules: [{id: x, class: PERMANENT, contains: ["/recusad[oa]/i"]}]`),
	"an entity of HTML":             extended(`rules: [{id: x, class: PERMANENT, contains: ["n&atilde;o coberto"]}]`),
	"a wildcard":                    extended(`rules: [{id: x, class: TRANSIENT, contains: ["PORTAL*"]}]`),
	"a field named pattern":         extended(`rules: [{id: x, class: PERMANENT, pattern: ".*"}]`),
	"a letter":                      extended("rules: [{id: x, class: PERMANENT, contains: [E]}]"),
	"the word for everything":       extended("rules: [{id: x, class: PERMANENT, contains: [ERRO]}]"),
	"a word of the documents":       extended("rules: [{id: x, class: PERMANENT, contains: [TIMEOUT]}]"),
	"refusals that are retried":     extended("rules: [{id: x, class: TRANSIENT, glosa: {table: tabela-38}}]"),
	"all statuses":                  extended("rules: [{id: x, class: PERMANENT, http: [4xx, 5xx]}]"),
	"a status as a text":            extended("rules: [{id: x, class: PERMANENT, contains: [404]}]"),
	"an inherited id":               extended("rules: [{id: transient.TIMEOUT, class: TRANSIENT, contains: [PORTAL FECHADO]}]"),
	"conditions that never meet":    extended("rules: [{id: x, class: PERMANENT, http: [409], smtp: [550]}]"),
	"a word in two classes":         extended("rules: [{id: x, class: PERMANENT, contains: [PORTAL]}, {id: y, class: TRANSIENT, contains: [PORTAL FECHADO, SITE FECHADO]}]"),
	"unless that takes everything":  extended("rules: [{id: x, class: TRANSIENT, contains: [PORTAL FECHADO], unless: {contains: [PORTAL]}}]"),
	"unless of a letter":            extended("rules: [{id: x, class: TRANSIENT, http: [409], unless: {contains: [A]}}]"),
	"a rule without a condition":    extended("rules: [{id: x, class: TRANSIENT}]"),
	"a rule that is a text":         extended("rules: [PORTAL FECHADO]"),
	"a status that there is not":    extended("rules: [{id: x, class: TRANSIENT, http: [50]}]"),
	"a range of statuses":           extended("rules: [{id: x, class: TRANSIENT, http: [500-504]}]"),
	"a glosa that there is not":     extended("rules: [{id: x, class: PERMANENT, glosa: {table: tabela-38, only: [99999]}}]"),
	"blanks at the ends of a word":  extended("rules: [{id: x, class: TRANSIENT, contains: [' PORTAL FECHADO ']}]"),
	"a line break in a word":        extended("rules: [{id: x, class: TRANSIENT, contains: [\"PORTAL\\nFECHADO\"]}]"),
	"a colon that makes it a field": extended("rules: [{id: x, class: TRANSIENT, contains: [PORTAL: FECHADO]}]"),
}

func extended(fields string) string {
	return "policies:\n  - name: a\n    extends: tiss\n    " + fields + "\n"
}

func TestNoFoolishFilePassesWithoutAWord(t *testing.T) {
	for what, file := range foolish {
		set, err := policy.Parse("foolish.yaml", []byte(file))
		if err == nil && len(set.LintAll(0)) == 0 {
			t.Errorf("%s: not a word", what)
		}
	}
}
