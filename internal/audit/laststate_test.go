package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTheNewestStateOfAKeyIsTheLastOne(t *testing.T) {
	secret, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	dir, at := t.TempDir(), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	older, newer, damaged := filepath.Join(dir, "older"), filepath.Join(dir, "newer"), filepath.Join(dir, "damaged")
	for path, when := range map[string]time.Time{older: at, newer: at.Add(time.Second)} {
		if err := secret.SaveState(path, State{At: when}); err != nil {
			t.Fatal(err)
		}
	}
	for _, paths := range [][]string{{older, newer}, {newer, older}, {filepath.Join(dir, "none"), newer}} {
		if path, _, err := LastState(paths, secret.Public()); path != newer || err != nil {
			t.Errorf("of %v: %s, %v", paths, path, err)
		}
	}
	if _, _, err := LastState([]string{filepath.Join(dir, "none")}, secret.Public()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where there is none: %v", err)
	}
	if err := os.WriteFile(damaged, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LastState([]string{older, damaged}, secret.Public()); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where one is damaged: %v", err)
	}
}

func TestOnlyHeadsBehindAnOldEndAreGivenUp(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	st := State{GivenUp: []GivenUp{{At: at, Why: Restored, From: []Head{{Chain: 1, Seq: 5}}}}}
	for h, want := range map[*Head]bool{
		{Chain: 1, Seq: 5, At: at.Add(-time.Hour)}: false, // it is in what was restored
		{Chain: 1, Seq: 6, At: at.Add(-time.Hour)}: true,
		{Chain: 2, Seq: 1, At: at.Add(-time.Hour)}: true,  // the backup was from before the chain
		{Chain: 1, Seq: 6, At: at.Add(time.Hour)}:  false, // signed since
	} {
		if got := st.HasGivenUp(*h); got != want {
			t.Errorf("%+v: %v", *h, got)
		}
	}
}
