package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/term"
)

// headsFrom names the sources of heads that were kept apart from the store.
type headsFrom struct {
	key  string // the file of the key
	file string // given with --heads; empty for none
}

// gathered are the heads that were kept apart from the store, and their sources.
type gathered struct {
	heads []audit.Head
	// State is the state file of the key, absent where none was found.
	State *keptState `json:"state,omitempty"`
	// QueueHeads is how many heads the queue holds, absent where it was not asked.
	QueueHeads *int `json:"queueHeads,omitempty"`
	// GivenUpHeads are not compared: by the state file a person has given up their records.
	GivenUpHeads int `json:"givenUpHeads,omitempty"`
	// Warnings name the sources that could not be read. They are no fault of the trail.
	Warnings []string `json:"warnings,omitempty"`

	noState bool // there is no state file
}

// keptState is the content of a state file.
type keptState struct {
	File    string          `json:"file"`
	At      time.Time       `json:"at"`
	Heads   int             `json:"heads"`
	GivenUp []audit.GivenUp `json:"givenUp,omitempty"`
}

// gatherHeads reads the state file of the key, and either the file that was given or the queue. It must be done before the
// store's own heads are read, or a running worker's next head would be missed there.
func gatherHeads(command *cobra.Command, cfg config.Config, public audit.Public, from headsFrom) (g gathered, err error) {
	paths := stateFiles(cfg, from.key)
	path, state, err := audit.LastState(paths, public)
	switch {
	case errors.Is(err, fs.ErrPermission):
		g.Warnings = append(g.Warnings, err.Error())
	case errors.Is(err, fs.ErrNotExist):
		g.noState = true
	case err != nil:
		return g, err
	default:
		g.State = &keptState{File: path, At: state.At, Heads: len(state.Heads), GivenUp: state.GivenUp}
		g.heads = state.Heads
	}
	switch {
	case from.file != "":
		kept, err := knownHeads(from.file, command.InOrStdin(), public)
		if err != nil {
			return g, err
		}
		g.add(kept, state)
	case cfg.EventsURL != "":
		published, err := app.QueueHeads(command.Context(), cfg, public)
		if err != nil {
			g.Warnings = append(g.Warnings, fmt.Sprintf("the heads in the queue were not compared, or not all of them: %v", err))
		}
		n := len(published)
		g.QueueHeads = &n
		g.add(published, state)
	}
	return g, nil
}

// add adds heads, but those of records that a person has given up.
func (g *gathered) add(heads []audit.Head, state audit.State) {
	for _, h := range heads {
		if state.HasGivenUp(h) {
			g.GivenUpHeads++
			continue
		}
		g.heads = append(g.heads, h)
	}
}

// stateFiles returns where the state of a key may be: next to its file, also where that is the public half under the usual
// name, and where the worker keeps it.
func stateFiles(cfg config.Config, key string) []string {
	paths := []string{key + ".state"}
	if private, is := strings.CutSuffix(key, ".pub"); is {
		paths = append(paths, private+".key.state")
	}
	return append(paths, cfg.AuditStates()...)
}

// writeText writes the sources of the heads.
func (g *gathered) writeText(out io.Writer) {
	switch {
	case g.State != nil:
		fmt.Fprintf(out, "The state file of the key was compared: %s, saved %s.\n", g.State.File, term.Time(g.State.At))
		for _, given := range g.State.GivenUp {
			fmt.Fprintf(out, "At %s a person accepted that records are missing (%s).\n", term.Time(given.At), given.Why)
		}
	case g.noState:
		fmt.Fprintln(out, "No state file next to the key: heads kept elsewhere show whether this is all.")
	}
	if g.QueueHeads != nil {
		fmt.Fprintf(out, "The queue holds %s of this key.\n", term.Count(*g.QueueHeads, "head"))
	}
	if g.GivenUpHeads > 0 {
		fmt.Fprintf(out, "%s not compared: a person has given up those records.\n", term.Count(g.GivenUpHeads, "known head"))
	}
}

// headEvent is the event under which the worker logs the heads, and under which they are printed here.
const headEvent = "audit_head"

// headLine is a signed head as it stands in the worker's log.
type headLine struct {
	Event string `json:"event"`
	audit.Head
}

func lineOf(h audit.Head) headLine { return headLine{headEvent, h} }

// knownHeads reads the heads of a key among the lines of a file.
func knownHeads(path string, stdin io.Reader, key audit.Public) (known []audit.Head, err error) {
	from := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("known heads: %w", err)
		}
		defer f.Close()
		from = f
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		heads, err := headsInLine(lines.Bytes(), key)
		if err != nil {
			return nil, fmt.Errorf("known heads: %s, line %d: %w", path, n, err)
		}
		known = append(known, heads...)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("known heads: %s: %w", path, err)
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("known heads: there is no line with the event %s in %s, and no event %s of the key %s", headEvent, path, events.TypeAuditHead, key.ID())
	}
	return known, nil
}

// headsInLine returns the heads of a line of the worker's log, or of an event: those of the key, because many stores may
// share a queue.
func headsInLine(line []byte, key audit.Public) ([]audit.Head, error) {
	var named struct {
		Event string `json:"event"`
	}
	if !json.Valid(line) {
		return nil, nil
	}
	if err := json.Unmarshal(line, &named); err != nil || named.Event != headEvent {
		return events.Heads(line, key.ID())
	}
	var logged headLine
	if err := json.Unmarshal(line, &logged); err != nil {
		return nil, err
	}
	return []audit.Head{logged.Head}, nil
}
