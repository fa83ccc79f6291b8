package e2e

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/testing/check"
)

// vars are process variables. Numbers may be of any Go type where they are expected; read from the broker they are
// float64.
type vars map[string]any

func (v vars) json(t *testing.T) string {
	t.Helper()
	if v == nil {
		return "{}"
	}
	text, err := json.Marshal(v)
	check.Must(t, err)
	return string(text)
}

func readVars(t *testing.T, text string) vars {
	t.Helper()
	var v vars
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("the broker's variables %q: %v", text, err)
	}
	return v
}

// hold fails the test where one of the expected variables is missing or different. Others may be there.
func (v vars) hold(t *testing.T, want vars) {
	t.Helper()
	got := maps.Clone(v)
	maps.DeleteFunc(got, func(name string, _ any) bool { _, asked := want[name]; return !asked })
	if diff := cmp.Diff(readVars(t, want.json(t)), got); diff != "" {
		t.Errorf("the variables at the broker differ (-want +got):\n%s", diff)
	}
}

// lack fails the test where one of the variables is there.
func (v vars) lack(t *testing.T, names ...string) {
	t.Helper()
	for name := range v {
		if slices.Contains(names, name) {
			t.Errorf("the variable %s is at the broker, holding %v", name, v[name])
		}
	}
}

// object returns a variable that must hold an object.
func (v vars) object(t *testing.T, name string) vars {
	t.Helper()
	o, ok := v[name].(map[string]any)
	if !ok {
		t.Errorf("%s is %v (%T), want an object", name, v[name], v[name])
	}
	return o
}
