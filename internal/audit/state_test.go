package audit_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// headAt is a signed head at a place of a chain.
func headAt(s *audit.Secret, chain int, seq int64, hash byte) audit.Head {
	return s.Head(audit.ChainAt(chain, seq, audit.Hash{hash}), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC))
}

func savedState(t *testing.T) (s *audit.Secret, path string, st audit.State) {
	t.Helper()
	s, path = audittest.Secret(t), filepath.Join(t.TempDir(), "audit.key.state")
	st = audit.State{
		At: time.Date(2026, 11, 21, 10, 1, 0, 0, time.UTC), Heads: []audit.Head{headAt(s, 1, 100, 7), headAt(s, 2, 5, 8)},
		GivenUp: []audit.GivenUp{{At: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), Why: audit.NewTrail, Heads: []audit.Head{headAt(s, 1, 3, 1)}}},
	}
	check.Must(t, s.SaveState(path, st))
	return s, path, st
}

func TestAStateIsReadBackAndKeptForItsOwner(t *testing.T) {
	t.Parallel()
	s, path, want := savedState(t)
	for range 2 { // the second time in the place of the first
		got, err := audit.LoadState(path, s.Public())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, %v, want %+v", got, err, want)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		want.Heads[0] = headAt(s, 1, 101, 9)
		check.Must(t, s.SaveState(path, want))
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v, want the one", len(files), err)
	}
}

func TestAChangedStateIsRefused(t *testing.T) {
	t.Parallel()
	s, path, _ := savedState(t)
	text, err := os.ReadFile(path)
	check.Must(t, err)
	for name, changed := range map[string][]byte{
		"empty":     nil,
		"cut off":   text[:len(text)/2],
		"null":      []byte("null"),
		"no object": []byte(`[1]`),
		"no heads":  []byte(`{"state":{"at":"2026-11-21T10:01:00Z","heads":[]},"signature":""}`),
		"a place":   bytes.Replace(text, []byte(`"seq":100`), []byte(`"seq":10`), 1),
		"a hash":    bytes.Replace(text, []byte(`"hash":"07`), []byte(`"hash":"06`), 1),
		"the time":  bytes.Replace(text, []byte(`10:01:00`), []byte(`10:02:00`), 1),
		"given up":  bytes.Replace(text, []byte(`"givenUp"`), []byte(`"forgotten"`), 1),
	} {
		if bytes.Equal(changed, text) {
			t.Fatalf("%s: nothing is changed", name)
		}
		check.Must(t, os.WriteFile(path, changed, 0o600))
		if _, err := audit.LoadState(path, s.Public()); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error that names the file", name, err)
		}
	}
}

func TestAStateOfAnotherKeyIsRefused(t *testing.T) {
	t.Parallel()
	s, path, st := savedState(t)
	other := audittest.Secret(t)
	if _, err := audit.LoadState(path, other.Public()); err == nil || !strings.Contains(err.Error(), "signed with another key") {
		t.Errorf("read with another key: %v", err)
	}
	if err := other.SaveState(path, st); err == nil {
		t.Error("a head that another key has signed was saved")
	}
	if _, err := audit.LoadState(path, s.Public()); err != nil {
		t.Errorf("a save that failed changed the file: %v", err)
	}
}

func TestASaveThatFailsSaysThatItMayNotWrite(t *testing.T) {
	t.Parallel()
	s := audittest.Secret(t)
	if err := s.SaveState(filepath.Join(t.TempDir(), "none", "audit.key.state"), audit.State{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestMissingRecordsAreNamed(t *testing.T) {
	t.Parallel()
	s := audittest.Secret(t)
	st := audit.State{Heads: []audit.Head{headAt(s, 1, 100, 7), headAt(s, 2, 5, 8)}}
	other := headAt(s, 2, 5, 8)
	for name, test := range map[string]struct {
		present []audit.Head
		says    string // "" for nothing missing
	}{
		"the same":          {st.Heads, ""},
		"grown":             {[]audit.Head{headAt(s, 1, 101, 9), other, headAt(s, 3, 1, 1)}, ""},
		"empty":             {nil, "chain 1: the key signed 100 records, the last at 2026-11-21T10:00:00Z; the store has none. chain 2: the key signed 5"},
		"a chain is gone":   {[]audit.Head{other}, "chain 1: the key signed 100 records, the last at 2026-11-21T10:00:00Z; the store has none"},
		"fewer":             {[]audit.Head{headAt(s, 1, 99, 7), other}, "the store has 99, the last at 2026-11-21T10:00:00Z"},
		"another of a name": {[]audit.Head{headAt(s, 1, 100, 8), other}, "the store has another record at place 100"},
	} {
		err := st.Missing(test.present)
		if test.says == "" {
			if err != nil {
				t.Errorf("%s: got %v, want nothing", name, err)
			}
			continue
		}
		if missing, ok := errors.AsType[*audit.MissingError](err); !ok || !strings.Contains(missing.Error(), test.says) {
			t.Errorf("%s: got %v, want %q", name, err, test.says)
		}
	}
}

func TestTheNewestStateOfAKeyIsTheLastOne(t *testing.T) {
	secret := audittest.Secret(t)
	dir, at := t.TempDir(), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	older, newer, damaged := filepath.Join(dir, "older"), filepath.Join(dir, "newer"), filepath.Join(dir, "damaged")
	for path, when := range map[string]time.Time{older: at, newer: at.Add(time.Second)} {
		check.Must(t, secret.SaveState(path, audit.State{At: when}))
	}
	for _, paths := range [][]string{{older, newer}, {newer, older}, {filepath.Join(dir, "none"), newer}} {
		if path, _, err := audit.LastState(paths, secret.Public()); path != newer || err != nil {
			t.Errorf("of %v: %s, %v", paths, path, err)
		}
	}
	if _, _, err := audit.LastState([]string{filepath.Join(dir, "none")}, secret.Public()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where there is none: %v", err)
	}
	check.Must(t, os.WriteFile(damaged, []byte("{"), 0o600))
	if _, _, err := audit.LastState([]string{older, damaged}, secret.Public()); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where one is damaged: %v", err)
	}
}

func TestOnlyHeadsBehindAnOldEndAreGivenUp(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	st := audit.State{GivenUp: []audit.GivenUp{{At: at, Why: audit.Restored, From: []audit.Head{{Chain: 1, Seq: 5}}}}}
	for h, want := range map[*audit.Head]bool{
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
