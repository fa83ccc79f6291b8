package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) auditVerify() *cobra.Command {
	command := &cobra.Command{Use: "verify"}
	keyFile := command.Flags().String("key", "", "public or private key file (default the worker's own)")
	headsFile := command.Flags().String("heads", "", "file of kept heads; lines without are skipped")
	return p.answers(command, aStore, func(c *call) (any, error) {
		public, err := audit.LoadPublic(cmp.Or(*keyFile, c.cfg.AuditKey()))
		if err != nil {
			return nil, err
		}
		var known []audit.Head
		if *headsFile != "" {
			if known, err = knownHeads(*headsFile, public); err != nil {
				return nil, err
			}
		}
		return verify(c, public, known)
	})
}

// checked is what a check found. Its JSON form is stable.
type checked struct {
	Store string `json:"store"`
	// Key is the short name of the key, as in the worker's log.
	Key string `json:"key"`
	OK  bool   `json:"ok"`
	// Broken is the first place where something does not fit, absent where all is in order.
	Broken *audit.BrokenError `json:"broken,omitempty"`
	// Aside is where the store is now that was there before a restore, absent where there was none.
	Aside string `json:"aside,omitempty"`
	audit.Verified

	// KnownHeads were given. The places of those that did not agree are removed.
	KnownHeads int `json:"knownHeads"`
}

// verify checks the store, and answers with what it found.
func verify(c *call, public audit.Public, known []audit.Head) (any, error) {
	found := checked{Store: c.cfg.DatabaseURL.String(), Key: public.ID(), KnownHeads: len(known)}
	var err error
	found.Verified, err = audit.Verify(c.Context(), c.store, public, known)
	broken, is := errors.AsType[*audit.BrokenError](err)
	switch {
	case is:
		found.Broken = broken
		err = text.Messagef("the audit trail at %s is broken: %s", found.Store, broken.Message())
	case err != nil:
		return nil, err
	case found.Records == 0 && found.Removed == 0:
		err = text.Messagef("there are no records in %s, and no cut stands for removed ones: "+
			"nothing was decided yet, it is another store than the worker's, or it was emptied", found.Store)
	}
	if err != nil {
		found.Heads = nil // heads of a broken trail are not to be kept
		return found, err
	}
	found.OK = true
	return found, found.say(c.w)
}

// say reports that the trail is in order, with its heads.
func (c *checked) say(w *wording) error {
	if c.Aside != "" {
		w.linef("The store that was there is kept as %s.", c.Aside)
	}
	w.linef("The audit trail is in order: %s.", c.Store)
	rows := [][]string{{w.Sprintf("key"), c.Key}}
	count := func(what string, n int64) {
		if n > 0 {
			rows = append(rows, []string{what, w.Sprintf("%d", n)})
		}
	}
	count(w.Sprintf("records checked"), c.Records)
	count(w.Sprintf("open claims checked"), c.Claims)
	count(w.Sprintf("records removed by a purge"), c.Removed)
	count(w.Sprintf("known heads that agree"), int64(c.Agreed))
	count(w.Sprintf("known heads of removed records"), int64(c.KnownHeads-c.Agreed))
	w.table("", rows)
	w.WriteString("\n")
	w.sayf("The heads now. Keep them apart from the store, for --heads at the next check:")
	for _, h := range c.Heads {
		if err := w.json(headLine{headEvent, h}, ""); err != nil {
			return err
		}
	}
	return nil
}

// headEvent is the event under which the worker logs the heads, and under which they are printed here.
const headEvent = "audit_head"

// headLine is a signed head as it stands in the worker's log.
type headLine struct {
	Event string `json:"event"`
	audit.Head
}

// knownHeads reads the heads among the lines of a file: those of the worker's log, and of events those of the
// key, because many stores may share a queue.
func knownHeads(path string, key audit.Public) (known []audit.Head, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Bytes()
		heads, err := events.Heads(line, key.ID())
		if bytes.Contains(line, []byte(`"`+headEvent+`"`)) {
			var logged headLine
			err = json.Unmarshal(line, &logged)
			heads = []audit.Head{logged.Head}
		}
		if err != nil {
			return nil, text.Messagef("%s, line %d: %s", path, n, err)
		}
		known = append(known, heads...)
	}
	if len(known) == 0 && lines.Err() == nil {
		return nil, text.Messagef("there is no line with the event %s in %s, and no event %s of the key %s",
			headEvent, path, events.TypeAuditHead, key.ID())
	}
	return known, lines.Err()
}
