package worker

import (
	"encoding/json"
	"testing"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/oddinputs"
)

// Whatever the text is, it is taken apart as encoding/json does it.
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
		got := parse(&job.Job{Variables: text})
		if (got == nil) != (want == nil) {
			t.Fatalf("%q: an object: %v, want %v", text, got != nil, want != nil)
		}
		for _, v := range got {
			if _, ok := want[v.name]; !ok {
				t.Errorf("%q: %q is no variable", text, v.name)
			}
		}
		for name, value := range want {
			if got.get(name) != string(value) {
				t.Errorf("%q: %q is %s, want %s", text, name, got.get(name), value)
			}
			var word string
			if json.Unmarshal(value, &word) == nil && value[0] == '"' && unquote(string(value)) != word {
				t.Errorf("%q: %q says %q, want %q", text, name, unquote(string(value)), word)
			}
		}
	})
}
