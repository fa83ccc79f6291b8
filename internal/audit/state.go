package audit

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/readfile"
)

// State is what a key has signed last, as a small signed file apart from the store keeps it. A store that was deleted, emptied
// or put back to an earlier state is in order by itself; the state shows what it had.
type State struct {
	// At is when the state was saved.
	At time.Time `json:"at"`
	// Heads are the ends of the chains then.
	Heads []Head `json:"heads"`
	// GivenUp are the ends of earlier trails that a person has given up, the oldest first.
	GivenUp []GivenUp `json:"givenUp,omitempty"`
}

// GivenUp is one time that a person had the key go on without records that it had signed.
type GivenUp struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"` // NewTrail or Restored
	// Heads are what the key had signed until then, From the ends from which the trail goes on; a new trail has none.
	Heads []Head `json:"heads"`
	From  []Head `json:"from,omitempty"`
}

// The reasons for which heads are given up.
const (
	NewTrail = "new trail"
	Restored = "restored"
)

// stateFile is the form of the file. The signature covers the bytes of the state as they stand in the file, so that a
// field that is added later is covered too.
type stateFile struct {
	State     json.RawMessage `json:"state"`
	Signature []byte          `json:"signature"`
}

func stateMessage(state []byte) []byte {
	return append([]byte("analyze-retry audit state v1\x00"), state...)
}

// maxState is far above what the heads of some hundred chains take.
const maxState = 1 << 20

// LoadState reads the state that the key has saved. The error is an [fs.ErrNotExist] where there is none; a file that is
// damaged or was signed with another key is an error that says what to do.
func LoadState(path string, public Public) (State, error) {
	text, _, err := readfile.Read(path, maxState)
	if err != nil {
		return State{}, fmt.Errorf("audit state: %w", err)
	}
	var file stateFile
	if err := json.Unmarshal(text, &file); err != nil {
		return State{}, stateFault(path, fmt.Sprintf("is damaged (%v)", err))
	}
	if !ed25519.Verify(public.key, stateMessage(file.State), file.Signature) {
		return State{}, stateFault(path, fmt.Sprintf("was changed, or signed with another key than %s", public.ID()))
	}
	var st State
	if err := json.Unmarshal(file.State, &st); err != nil {
		return State{}, stateFault(path, fmt.Sprintf("cannot be read by this worker (%v)", err))
	}
	return st, nil
}

// LastState reads the state that a key has saved in one of these files, the newest where there are several, and returns its
// path too. The error is an [fs.ErrNotExist] or an [fs.ErrPermission] where none of them can be read, and otherwise that of
// [LoadState].
func LastState(paths []string, public Public) (path string, last State, err error) {
	unread := fmt.Errorf("%w: %s", fs.ErrNotExist, strings.Join(paths, ", "))
	for _, p := range paths {
		st, err := LoadState(p, public)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, fs.ErrPermission):
			unread = err
		case err != nil:
			return "", State{}, err
		case path == "" || st.At.After(last.At):
			path, last = p, st
		}
	}
	if path == "" {
		return "", State{}, unread
	}
	return path, last, nil
}

// HasGivenUp reports whether a person has given up the records that end with this head: the key has gone on without them.
func (st State) HasGivenUp(h Head) bool {
	for _, g := range st.GivenUp {
		if !h.At.After(g.At) && h.Seq > headOf(g.From, h.Chain).Seq {
			return true
		}
	}
	return false
}

func stateFault(path, what string) error {
	return fmt.Errorf("audit state %s %s: it shows whether records are missing, so check that the key and the store are the right ones "+
		"(worker audit verify), then move this file away", path, what)
}

// SaveState writes the state, signed, in the place of the one before. After a crash the file is the old one or the new one.
// Only its owner may read it.
func (s *Secret) SaveState(path string, st State) error {
	for _, h := range st.Heads {
		if !s.Public().CheckHead(h) {
			return fmt.Errorf("audit state %s: the head of chain %d was not signed with the key %s", path, h.Chain, s.Public().ID())
		}
	}
	st.At = st.At.UTC().Truncate(time.Microsecond)
	state, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("audit state %s: %w", path, err)
	}
	text, err := json.Marshal(stateFile{state, ed25519.Sign(s.private, stateMessage(state))})
	if err == nil {
		err = writeFile(path, append(text, '\n'), os.Rename)
	}
	if err != nil {
		return fmt.Errorf("audit state %s: %w", path, err)
	}
	return nil
}

// writeFile writes a file next to the path, for its owner only, and moves it there when it is whole and synced.
func writeFile(path string, text []byte, move func(from, to string) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after a rename there is none
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := move(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(dir)
}

// SyncDir makes what was made, renamed or removed in a directory last through a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil // a file system that syncs no directories
	}
	return errors.Join(err, d.Close())
}

// MissingError says that a key has signed records that the store does not have.
type MissingError struct {
	Chains []MissingChain
}

// MissingChain is a chain of which records are missing.
type MissingChain struct {
	// Signed is the end that the key has signed. Has is the one of the store, zero where the chain is gone. Where both have
	// the same place, or the store has more, the record at the place is another one.
	Signed, Has Head
}

// Error names, for each chain, what was signed and what is there.
func (e *MissingError) Error() string {
	var parts []string
	for _, c := range e.Chains {
		signed := fmt.Sprintf("chain %d: the key signed %d records, the last at %s", c.Signed.Chain, c.Signed.Seq, c.Signed.At.Format(time.RFC3339))
		switch {
		case c.Has.Seq == 0:
			parts = append(parts, signed+"; the store has none")
		case c.Has.Seq < c.Signed.Seq:
			parts = append(parts, fmt.Sprintf("%s; the store has %d, the last at %s", signed, c.Has.Seq, c.Has.At.Format(time.RFC3339)))
		default:
			parts = append(parts, fmt.Sprintf("%s; the store has another record at place %d", signed, c.Signed.Seq))
		}
	}
	return strings.Join(parts, ". ")
}

// Missing compares the state with the present heads of a store and returns a [*MissingError] if a chain is gone, has fewer
// records than the key has signed, or ends at the same place with another record. It returns nil otherwise. A chain that has
// grown since agrees as far as heads show; [Compare] looks at the record too.
func (st State) Missing(present []Head) error {
	missing := &MissingError{}
	for _, signed := range st.Heads {
		has := headOf(present, signed.Chain)
		if has.Seq < signed.Seq || has.Seq == signed.Seq && has.Hash != signed.Hash {
			missing.Chains = append(missing.Chains, MissingChain{Signed: signed, Has: has})
		}
	}
	if len(missing.Chains) == 0 {
		return nil
	}
	return missing
}

// Compare looks for what the key has signed in a store, and returns a [*MissingError] for what is not there. Of a chain that has
// grown since it reads the record at the place of the signed head, if that is not removed.
func Compare(ctx context.Context, store Maintenance, signed []Head) error {
	signed = slices.DeleteFunc(slices.Clone(signed), func(h Head) bool { return h.Seq == 0 })
	if len(signed) == 0 {
		return nil
	}
	present, err := store.Heads(ctx)
	if err != nil {
		return err
	}
	if err := (State{Heads: signed}).Missing(present); err != nil {
		return err
	}
	missing := &MissingError{}
	for _, h := range signed {
		r, err := firstAfter(ctx, store, h.Chain, h.Seq-1)
		if err != nil {
			return err
		}
		if r != nil && r.Seq == h.Seq && r.Hash != h.Hash {
			missing.Chains = append(missing.Chains, MissingChain{Signed: h, Has: headOf(present, h.Chain)})
		}
	}
	if len(missing.Chains) > 0 {
		return missing
	}
	return nil
}

// Latest returns the heads with this one in the place of an earlier one of its chain; without it where there is a later one.
func Latest(heads []Head, head Head) []Head {
	if headOf(heads, head.Chain).Seq > head.Seq {
		return heads
	}
	others := slices.DeleteFunc(slices.Clone(heads), func(h Head) bool { return h.Chain == head.Chain })
	return append(others, head)
}

// headOf returns the head of a chain, the zero head where there is none.
func headOf(heads []Head, chain int) Head {
	for _, h := range heads {
		if h.Chain == chain {
			return h
		}
	}
	return Head{}
}
