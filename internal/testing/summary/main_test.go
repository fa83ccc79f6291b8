package main

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestPackagesAreCountedAndFailuresPrinted(t *testing.T) {
	const events = `{"ImportPath":"x.example/m/broken","Action":"build-output","Output":"broken.go:3: undefined: y\n"}
{"Action":"output","Package":"x.example/m/good","Test":"TestA","Output":"said by one that passes\n"}
{"Action":"pass","Package":"x.example/m/good","Test":"TestA/sub"}
{"Action":"pass","Package":"x.example/m/good","Test":"TestA"}
{"Action":"start","Package":"x.example/m/bad"}
{"Action":"pass","Package":"x.example/m/good","Elapsed":0.25}
not json
{"Action":"output","Package":"x.example/m/bad","Test":"TestB","Output":"said by one that passes\n"}
{"Action":"output","Package":"x.example/m/bad","Test":"TestC","Output":"want 1, got 2\n"}
{"Action":"pass","Package":"x.example/m/bad","Test":"TestB"}
{"Action":"fail","Package":"x.example/m/bad","Test":"TestC"}
{"Action":"skip","Package":"x.example/m/bad","Test":"TestD"}
{"Action":"output","Package":"x.example/m/bad","Output":"exit status 1\n"}
{"Action":"fail","Package":"x.example/m/bad","Elapsed":1.5}
{"Action":"fail","Package":"x.example/m/broken","Elapsed":0}
{"Action":"skip","Package":"x.example/m/empty"}
`
	var out strings.Builder
	s := newSummary(&out)
	failed, err := s.read(strings.NewReader(events))
	check.Must(t, err)
	check.Same(t, `broken.go:3: undefined: y
ok    m/good: 2 passed (0.2 s)
not json
want 1, got 2
exit status 1
FAIL  m/bad: 1 passed, 2 failed (1.5 s)
FAIL  m/broken: 0 passed, 1 failed (0.0 s)
`, out.String(), "the output")
	if s.passed != 3 || s.failed != 3 || failed != 3 {
		t.Errorf("%d passed, %d failed, %d events of failures", s.passed, s.failed, failed)
	}
}

func TestAnErrorOfGoTestItselfIsNotLost(t *testing.T) {
	var out strings.Builder
	s := newSummary(&out)
	s.run(".", "-mod=none")
	s.run("no-such-directory")
	if s.failed != 2 {
		t.Errorf("%d failed: %s", s.failed, out.String())
	}
}
