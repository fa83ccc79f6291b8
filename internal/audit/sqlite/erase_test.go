package sqlite

import (
	"bytes"
	"os"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

// Without secure_delete the bytes of a removed record stay in free pages until something else is written there.
func TestWhatWasPurgedIsGoneFromTheFile(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	s := openFile(t, f.path, secret)
	old, young := audittest.Records(0, 300), audittest.Records(300, 310)
	for i := range old {
		old[i].Message = "kept until it was too old"
	}
	for i := range young {
		young[i].Message = "kept for some years more"
	}
	for _, batch := range [][]audit.Record{old, young} {
		results, err := s.Append(t.Context(), batch, nil)
		must(t, err)
		var ids []int64
		for _, r := range results {
			ids = append(ids, r.Record.ID)
		}
		if _, err := s.Append(t.Context(), nil, ids); err != nil {
			t.Fatal(err)
		}
	}
	tombstones, err := s.Purgeable(t.Context(), young[0].At, false)
	if err != nil || len(tombstones) != 1 {
		t.Fatal(tombstones, err)
	}
	tombstones[0].At = time.Now()
	must(t, s.Purge(t.Context(), secret.SignTombstone(tombstones[0])))
	if err := s.Close(); err != nil { // the log goes into the file
		t.Fatal(err)
	}
	content, err := os.ReadFile(f.path)
	must(t, err)
	if n := bytes.Count(content, []byte(old[0].Message)); n > 0 {
		t.Errorf("the file has the text of removed records in %d places", n)
	}
	if n := bytes.Count(content, []byte(young[0].Message)); n < len(young) {
		t.Errorf("the file has the text of records that were kept in %d places, want %d or more: this test sees nothing", n, len(young))
	}
}
