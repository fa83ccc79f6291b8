package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
)

// found is what `worker audit verify --json` says.
type found struct {
	OK     bool
	Broken *struct {
		Chain   int
		Seq, ID int64
		Why     string
	}
	Findings []string
}

// inOrder reports whether the chains are, whatever the findings about the store say: row 27 takes triggers away.
func (f found) inOrder() bool { return f.Broken == nil }

// verify runs the built worker's check. Its exit code must fit what it says.
func (r *rig) verify(args ...string) (f found, said string) {
	r.Helper()
	command := r.command(append([]string{"audit", "verify", "--json"}, args...)...)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	said = stdout.String() + stderr.String()
	code := 0
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		code = exit.ExitCode()
	} else {
		r.must(err)
	}
	if err := json.Unmarshal([]byte(stdout.String()), &f); err != nil || f.OK != (code == 0) || !f.OK && code != 1 {
		r.Fatalf("worker audit verify ended with %d and said %s (%v)", code, said, err)
	}
	return f, said
}

// command is one of the worker's commands on the row's store.
func (r *rig) command(args ...string) *exec.Cmd {
	command := exec.CommandContext(r.Context(), binary, args...)
	command.Dir = r.dir
	command.Env = []string{"RETRY_DATABASE_URL=" + r.store.url, "RETRY_AUDIT_KEY_FILE=" + r.store.keyFile, "ZEEBE_ADDRESS=127.0.0.1:1"}
	return command
}

// finds wants the check to name this place; seq 0 is the chain as a whole.
func (m *meddler) finds(what string, chain int, seq int64) {
	m.rig.Helper()
	f, said := m.rig.verify()
	switch {
	case f.inOrder():
		m.rig.Errorf("%s: not found", what)
	case f.Broken.Chain != chain || f.Broken.Seq != seq:
		m.rig.Errorf("%s: found at chain %d, record %d instead of chain %d, record %d: %s", what, f.Broken.Chain, f.Broken.Seq, chain, seq, said)
	}
}

// Row 27. The guards are the hash over every column (audit.Chain) and the signed head (audit.Verify). Seen to fail
// without: a column that is not hashed can be changed, and a head whose signature nobody checks can be made anew. A check
// that began at the first record, rather than at whatever is there, did not see a record that was put before it.
func TestEveryChangeOfTheTrailIsFoundAndLocated(t *testing.T) {
	onBothStores(t, setup{row: 27, busy: true, what: "records changed, removed, swapped, added, cut off, chained anew"}, func(r *rig) {
		r.start().decides(100)
		earlier := r.records()
		m := r.meddles()
		m.keeps("earlier")
		last := r.start()
		if r.setup.store == inPostgres {
			r.start() // a second replica, and so more than one chain
		}
		last.decides(either(200, 2000))
		if f, said := r.verify(); !f.inOrder() {
			r.Fatalf("before anybody meddled: %s", said)
		}
		records := r.records()
		slices.SortFunc(records, func(a, b audit.Record) int {
			if a.Chain != b.Chain {
				return a.Chain - b.Chain
			}
			return int(a.Seq - b.Seq)
		})
		m.disarms()
		m.keeps("whole")
		n := m.all(records)
		n += m.rollsBack(earlier, last.log)
		m.does("%s", restores("whole"))
		invariants(r)
		r.happened(n, "ways to meddle, all found")
	})
}

// decides has so many claims decided, and ends all workers.
func (w *worker) decides(claims int) {
	w.rig.Helper()
	w.rig.submit(claims)
	w.rig.untilDone()
	w.rig.stopAll()
}

// all meddles in every way, at random places, and returns how often it did.
func (m *meddler) all(records []audit.Record) (n int) {
	random := rand.New(rand.NewPCG(27, 1))
	// Chain by chain, because the check names the first place of the first chain that is not in order.
	chains := map[int][]audit.Record{}
	for _, record := range records {
		chains[record.Chain] = append(chains[record.Chain], record)
	}
	for n < either(100, 2000) {
		chain := chains[records[random.IntN(len(records))].Chain]
		for _, way := range m.ways(chain, random) {
			what, seq := way()
			m.finds(what, chain[0].Chain, seq)
			m.does("%s", restores("whole"))
			n++
		}
	}
	if f, said := m.rig.verify(); !f.inOrder() {
		m.rig.Errorf("all was put back: %s", said)
	}
	return n
}

// way meddles, and returns what it did and at which place of the chain that must be found.
type way func() (what string, seq int64)

// ways are all ways to meddle with a chain, at random places of it.
func (m *meddler) ways(chain []audit.Record, random *rand.Rand) []way {
	place := func() *audit.Record { return &chain[random.IntN(len(chain))] }
	end := chain[len(chain)-1].Seq
	all := []way{
		func() (string, int64) {
			k := place()
			m.does("DELETE FROM records WHERE %s", m.at(k))
			return fmt.Sprint("removed ", k.Seq), k.Seq
		},
		func() (string, int64) {
			k := place()
			m.does("DELETE FROM records WHERE %s", m.at(k))
			m.does("UPDATE records SET seq = -(seq - 1) WHERE %s AND seq > %d", m.chain(k), k.Seq)
			m.does("UPDATE records SET seq = -seq WHERE seq < 0")
			return fmt.Sprint("removed, the others closed up: ", k.Seq), k.Seq
		},
		func() (string, int64) {
			k := place()
			m.does("DELETE FROM records WHERE %s AND seq >= %d", m.chain(k), k.Seq)
			return fmt.Sprint("the tail cut off from ", k.Seq), k.Seq
		},
		func() (string, int64) {
			k := place()
			m.does("DELETE FROM records WHERE %s AND seq >= %d", m.chain(k), k.Seq)
			m.does("DELETE FROM heads WHERE chain = %d", k.Chain)
			if k.Seq == 1 { // nothing of the chain is left; only a head that was kept elsewhere shows that
				m.does("INSERT INTO heads SELECT * FROM whole.heads WHERE chain = %d", k.Chain)
				return "everything removed but the head", 1
			}
			return fmt.Sprint("the tail and the head cut off from ", k.Seq), 0
		},
		func() (string, int64) {
			k := place()
			m.forges(chain, k, nil)
			return fmt.Sprint("chained anew from ", k.Seq), end
		},
		func() (string, int64) {
			k := place()
			other, err := audit.NewSecret()
			m.rig.must(err)
			m.forges(chain, k, other)
			return fmt.Sprint("chained anew, with a head of another key, from ", k.Seq), 0
		},
		func() (string, int64) {
			m.adds(&chain[len(chain)-1], end+1)
			return "added behind the head", end + 1
		},
		func() (string, int64) {
			m.adds(&chain[len(chain)-1], end+1000)
			return "added far behind the head", end + 1
		},
		func() (string, int64) {
			seq := -random.Int64N(5)
			m.adds(place(), seq)
			return "added before the first", seq
		},
		func() (string, int64) {
			m.does("UPDATE heads SET at = %s WHERE chain = %d", m.later("at"), chain[0].Chain)
			return "the head's time changed", 0
		},
	}
	if len(chain) > 1 {
		all = append(all, func() (string, int64) {
			i := random.IntN(len(chain) - 1)
			j := i + 1 + random.IntN(len(chain)-1-i)
			a, b := &chain[i], &chain[j]
			m.does("UPDATE records SET seq = -1 WHERE %s", m.at(a))
			m.does("UPDATE records SET seq = %d WHERE %s", a.Seq, m.at(b))
			m.does("UPDATE records SET seq = %d WHERE %s AND seq = -1", b.Seq, m.chain(a))
			return fmt.Sprintf("%d and %d swapped", a.Seq, b.Seq), a.Seq
		})
	}
	for column, change := range m.changes() {
		all = append(all, func() (string, int64) {
			k := place()
			m.does("UPDATE records SET %s = %s WHERE %s", column, change, m.at(k))
			return fmt.Sprintf("%s of %d changed", column, k.Seq), k.Seq
		})
	}
	return all
}

// changes are what changes each column of a record. In SQLite the place is the ID.
func (m *meddler) changes() map[string]string {
	text := func(column string) string { return column + " || 'x'" }
	number := func(column string) string { return column + " + 1" }
	all := map[string]string{
		"at": m.later("at"), "next_retry": m.later("next_retry"), "seq": "seq + 1000000",
		"kind": number("kind"), "job_key": number("job_key"), "process_instance_key": number("process_instance_key"),
		"retry_count": number("retry_count"), "cluster": text("cluster"), "claim_id": text("claim_id"),
		"message": text("message"), "variables": text("variables"), "detail": text("detail"),
		"input_hash": m.bytes(make([]byte, 16)), "hash": m.bytes(make([]byte, 32)),
	}
	if m.postgres {
		all["id"] = "id + 1000000"
	}
	return all
}

// rollsBack puts the whole trail back to where it was earlier, head and all. By itself that is in order; a head that was
// kept elsewhere, such as in the worker's log, shows it.
func (m *meddler) rollsBack(earlier []audit.Record, log string) int {
	m.rig.Helper()
	m.does("%s", restores("earlier"))
	if f, said := m.rig.verify(); !f.inOrder() {
		m.rig.Errorf("put back to an earlier state as a whole: %s", said)
	}
	f, _ := m.rig.verify("--heads", log)
	if f.inOrder() || f.Broken.Seq > int64(len(earlier))+1 {
		m.rig.Errorf("put back to an earlier state, with the heads of the worker's log: %+v", f)
	}
	m.does("DELETE FROM records")
	m.does("DELETE FROM heads")
	m.does("DELETE FROM meta") // which notes the chains
	if f, _ := m.rig.verify("--heads", log); f.inOrder() {
		m.rig.Error("everything removed: not found with the heads of the worker's log")
	}
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), "audit_head") {
		m.rig.Errorf("the worker has logged no head: %v", err)
	}
	return 2
}
