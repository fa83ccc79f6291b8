package exhaustive

import (
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

// Whatever order marks are cleared in, over restarts, those that are left are those that were not cleared.
func TestMarksAreClearedInAnyOrder(t *testing.T) {
	t.Parallel()
	secret := audittest.Secret(t)
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(audittest.MemoryDir(t), "audit.db")
		s, err := sqlite.Open(t.Context(), path, secret, sqlite.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		var unanswered, unpublished, all []int64
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			pick := func(name string, from []int64) []int64 {
				return rapid.SliceOfDistinct(rapid.SampledFrom(append(from, -1)), func(id int64) int64 { return id }).Draw(rt, name)
			}
			some := slices.DeleteFunc(pick("answered", slices.Clone(all)), func(id int64) bool { return id < 0 })
			more := rapid.IntRange(0, 5).Draw(rt, "more")
			results, err := s.Append(t.Context(), audittest.Records(len(all), len(all)+more), some)
			if err != nil {
				rt.Fatal(err)
			}
			unanswered = slices.DeleteFunc(unanswered, func(id int64) bool { return slices.Contains(some, id) })
			fresh := audittest.IDs(results)
			all, unanswered, unpublished = append(all, fresh...), append(unanswered, fresh...), append(unpublished, fresh...)
			some = slices.DeleteFunc(pick("published", slices.Clone(all)), func(id int64) bool { return id < 0 })
			if err := s.Published(t.Context(), some); err != nil {
				rt.Fatal(err)
			}
			unpublished = slices.DeleteFunc(unpublished, func(id int64) bool { return slices.Contains(some, id) })
			if rapid.Bool().Draw(rt, "restart") {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				if s, err = sqlite.Open(t.Context(), path, secret, sqlite.Options{}); err != nil {
					rt.Fatal(err)
				}
			}
			still, err := s.Unanswered(t.Context(), all)
			if slices.Sort(still); err != nil || !slices.Equal(still, unanswered) {
				rt.Fatalf("unanswered %v, %v, want %v", still, err, unanswered)
			}
			waiting, err := s.Unpublished(t.Context(), 0, len(all)+1)
			var got []int64
			for i := range waiting {
				got = append(got, waiting[i].ID)
			}
			if err != nil || !slices.Equal(got, unpublished) {
				rt.Fatalf("unpublished %v, %v, want %v", got, err, unpublished)
			}
			if count, _, err := s.Backlog(t.Context()); err != nil || int(count) != len(unpublished) {
				rt.Fatalf("%d wait, %v, want %d", count, err, len(unpublished))
			}
		}
	})
}
