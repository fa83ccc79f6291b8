package input

import (
	"encoding/json"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/oddinputs"
)

// Every text is taken apart as encoding/json does it.
func FuzzVariables(f *testing.F) {
	for _, in := range oddinputs.All() {
		if len(in.Variables) < 4096 { // the fuzzer makes its own long inputs
			f.Add(in.Variables)
		}
	}
	for _, text := range []string{
		" {\n} ", `{"a":1,"a":[{"b":"]}"},"}"] , "\\"":"\\\\" }`, `{"cl\u0061imId":"x","a":null}`, "{\"a\":\"\xff\"}", `{"":{}}`, `{"a":-1e5}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil {
			want = nil
		}
		got := parse(text)
		if (got == nil) != (want == nil) {
			t.Fatalf("%q: an object: %v, want %v", text, got != nil, want != nil)
		}
		for _, v := range got {
			if _, ok := want[v.name]; !ok {
				t.Errorf("%q: %q is no variable", text, v.name)
			}
		}
		for name, raw := range want {
			value := value(raw)
			check.Same(t, value, got.get(name), "%q: variable %s", text, name)
			var word string
			isText := json.Unmarshal(raw, &word) == nil && value[0] == '"'
			if got, ok := value.text(); ok != isText || got != word {
				t.Errorf("%q: %q says %q, %v, want %q, %v", text, name, got, ok, word, isText)
			}
		}
	})
}
