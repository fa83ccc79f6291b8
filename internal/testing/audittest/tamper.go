package audittest

import (
	"errors"
	"fmt"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// finds fails unless a check finds that the record at this place, or the chain as a whole for 0, is not in order.
func (s *subject) finds(t *testing.T, seq int64, known ...audit.Head) {
	t.Helper()
	v, err := s.verify(t, known...)
	if broken, ok := errors.AsType[*audit.BrokenError](err); !ok {
		t.Errorf("not found: %+v, %v", v, err)
	} else if broken.Seq != seq {
		t.Errorf("found at %d, want %d: %v", broken.Seq, seq, err)
	}
}

func (s *subject) tamper(t *testing.T, format string, args ...any) {
	t.Helper()
	s.database.Tamper(t, fmt.Sprintf(format, args...))
}

// head returns the head of the only chain that has records.
func (s *subject) head(t *testing.T) audit.Head {
	t.Helper()
	heads, _, err := s.Heads(t.Context())
	check.Must(t, err)
	return heads[0]
}

// changes are statements that change each column of a record.
func changes(d Database) map[string]string {
	text := func(column string) string { return column + " || 'x'" }
	number := func(column string) string { return column + " + 1" }
	of := func(column string) string { return "(SELECT " + column + " FROM records WHERE seq = 3)" }
	return map[string]string{
		"at": d.Later("at"), "next_retry": d.Later("next_retry"),
		"kind": number("kind"), "job_key": number("job_key"), "process_instance_key": number("process_instance_key"),
		"retry_count": number("retry_count"), "cluster": text("cluster"), "claim_id": text("claim_id"),
		"prev": number("prev"), "max_retries": number("max_retries"), "attempts": number("attempts"), "seconds": number("seconds"), "course": number("course"),
		"policy": text("policy"), "class": text("class"), "rule": text("rule"), "code": text("code"), "held_by": text("held_by"), "decided_by": text("decided_by"),
		"message": text("message"), "variables": text("variables"), "detail": text("detail"),
		"input_hash": of("input_hash"), "hash": of("hash"),
	}
}

// putBack puts a head back that was kept in the table earlier.
const putBack = "DELETE FROM heads; INSERT INTO heads SELECT * FROM earlier; DROP TABLE earlier"

// meddling is SQL and the place at which a check then finds something.
type meddling struct {
	statements string
	seq        int64
}

// tampered makes the fact that each step is found in a store of ten records.
func tampered(name string, steps ...meddling) fact {
	return fact{name, func(t *testing.T, s *subject) {
		t.Helper()
		s.append(t, Records(0, 10)...)
		for _, m := range steps {
			s.tamper(t, "%s", m.statements)
			s.finds(t, m.seq)
		}
	}}
}

var tamperFacts = []fact{
	{"a changed column is found, whichever it is", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		for column, change := range changes(s.database) {
			t.Run(column, func(t *testing.T) {
				s.tamper(t, "CREATE TABLE untouched AS SELECT * FROM records WHERE seq = 5")
				s.tamper(t, "UPDATE records SET %s = %s WHERE seq = 5", column, change)
				s.finds(t, 5)
				s.tamper(t, "UPDATE records SET %[1]s = (SELECT %[1]s FROM untouched) WHERE seq = 5", column)
				s.tamper(t, "DROP TABLE untouched")
				s.mustVerify(t, 10)
			})
		}
	}},
	{"text moved from one column to the next is found", func(t *testing.T, s *subject) {
		r := Record(0)
		r.Message, r.Variables = "ab", "c"
		s.append(t, r)
		s.tamper(t, "UPDATE records SET message = 'a', variables = 'bc'")
		s.finds(t, 1)
	}},
	tampered("a removed record is found: the first, one between, the last",
		meddling{"DELETE FROM records WHERE seq = 10", 10}, meddling{"DELETE FROM records WHERE seq = 5", 5}, meddling{"DELETE FROM records WHERE seq = 1", 1}),
	tampered("a removed record is found when the others close up", meddling{`DELETE FROM records WHERE seq = 5; UPDATE records SET seq = 5 WHERE seq = 6;
		UPDATE records SET seq = 6 WHERE seq = 7; UPDATE records SET seq = 7 WHERE seq = 8; UPDATE records SET seq = 8 WHERE seq = 9;
		UPDATE records SET seq = 9 WHERE seq = 10`, 5}),
	tampered("swapped records are found", meddling{"UPDATE records SET seq = -1 WHERE seq = 4; UPDATE records SET seq = 4 WHERE seq = 7; UPDATE records SET seq = 7 WHERE seq = -1", 4}),
	tampered("a chain that is gone, head and all, is found by the store itself", meddling{"DELETE FROM records; DELETE FROM heads", 0}),
	{"a tail cut off with its head put back is found by a head that is known", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 6)...)
		s.tamper(t, "CREATE TABLE earlier AS SELECT * FROM heads")
		s.append(t, Record(6))
		known := s.head(t)
		s.tamper(t, "DELETE FROM records WHERE seq > 6; DELETE FROM claims WHERE claim_id NOT IN (SELECT claim_id FROM records); "+putBack)
		s.mustVerify(t, 6) // by itself it is in order
		s.finds(t, 7, known)
	}},
	{"a chain that went on another way is found by a head that is known", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 6)...)
		known := s.head(t)
		s.append(t, Records(6, 10)...)
		if _, err := s.verify(t, known); err != nil {
			t.Errorf("a known head of the past: %v", err)
		}
		known.Hash[0]++
		known = s.secret.Head(known, known.At)
		s.finds(t, 6, known)
	}},
	{"a chain made anew without the key is found", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		head := s.head(t)
		chain := audit.Beginning(head.Chain)
		forged := s.all(t)
		forged[4].ClaimID = "CLM-forged-1"
		s.tamper(t, "UPDATE records SET claim_id = 'CLM-forged-1' WHERE seq = 5")
		for i := range forged {
			chain.Link(&forged[i])
			s.tamper(t, "UPDATE records SET hash = %s WHERE seq = %d", s.database.Bytes(forged[i].Hash[:]), forged[i].Seq)
		}
		s.finds(t, 10) // the old head
		last := chain.Hash
		s.tamper(t, "UPDATE heads SET hash = %s", s.database.Bytes(last[:]))
		s.finds(t, 0)
		other := Secret(t)
		s.tamper(t, "UPDATE heads SET signature = %s", s.database.Bytes(other.Head(chain, head.At).Signature))
		s.finds(t, 0)
	}},
	{"a record added behind the head is found, however well it is linked", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		s.tamper(t, "CREATE TABLE earlier AS SELECT * FROM heads")
		s.append(t, Record(10))
		s.tamper(t, putBack)
		s.finds(t, 11)
	}},
	{"a record added before the first one is found, also where a cut stands", func(t *testing.T, s *subject) {
		s.append(t, Ended(0, 10)...)
		s.tamper(t, "UPDATE records SET seq = -7 WHERE seq = 5")
		s.finds(t, -7)
		s.tamper(t, "UPDATE records SET seq = 5 WHERE seq = -7")
		s.mustVerify(t, 10)
		s.purge(t, minute(3), 3)
		s.mustVerify(t, 7)
		s.tamper(t, "UPDATE records SET seq = 2 WHERE seq = 10")
		s.finds(t, 2)
	}},
	{"a head that is gone or changed is found", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		s.tamper(t, "UPDATE heads SET at = %s", s.database.Later("at"))
		s.finds(t, 0)
		s.tamper(t, "DELETE FROM heads")
		s.finds(t, 0)
	}},
	{"a chain that is gone, head and all, is found by a head that is known", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		known := s.head(t)
		s.tamper(t, "DELETE FROM records")
		s.finds(t, 1)
		s.tamper(t, "DELETE FROM heads")
		s.finds(t, 0, known)
	}},
	{"a cut that was changed, removed or signed with another key is found", func(t *testing.T, s *subject) {
		s.append(t, Ended(0, 10)...)
		s.purge(t, minute(3), 3)
		s.mustVerify(t, 7)
		s.tamper(t, "CREATE TABLE untouched AS SELECT * FROM cuts")
		fifth := s.all(t)[1]
		forged := Secret(t).Cut(audit.Purged{Chain: fifth.Chain, Through: 5, Hash: fifth.Hash}, fifth.At)
		for column, change := range map[string]string{
			"seq": "seq + 1", "hash": s.database.Bytes(make([]byte, 32)), "signature": s.database.Bytes(forged.Signature), "at": s.database.Later("at"),
		} {
			s.tamper(t, "UPDATE cuts SET %s = %s", column, change)
			if _, err := s.verify(t); !IsBroken(err) {
				t.Errorf("%s of the cut was changed: %v", column, err)
			}
			s.tamper(t, "UPDATE cuts SET %[1]s = (SELECT %[1]s FROM untouched)", column)
			s.mustVerify(t, 7)
		}
		s.tamper(t, "DROP TABLE untouched")
		s.tamper(t, "DELETE FROM records WHERE seq <= 5")
		s.finds(t, 4)
		s.tamper(t, "UPDATE cuts SET seq = 5, hash = %s, signature = %s", s.database.Bytes(forged.Hash[:]), s.database.Bytes(forged.Signature))
		s.finds(t, 5)
		s.tamper(t, "DELETE FROM cuts")
		s.finds(t, 1)
	}},
	{"a row that was changed, removed, added or put back is found, and makes no wrong decision", func(t *testing.T, s *subject) {
		const claim = "CLM-a-1"
		s.append(t, story(step{"a", audit.KindRetry}, step{"b", audit.KindRetry})...)
		s.tamper(t, "CREATE TABLE earlier AS SELECT * FROM claims")
		s.append(t, later(2, story(step{"a", audit.KindRetry}))...)
		s.tamper(t, "CREATE TABLE untouched AS SELECT * FROM claims")
		refuses := func(name string) {
			t.Helper()
			more := later(9, story(step{"a", audit.KindRetry}, step{"c", audit.KindRetry}))
			results, err := s.Append(t.Context(), Entries(more[0]))
			if err != nil || results[0].Err == nil {
				t.Errorf("%s: %+v, %v", name, results, err)
			}
		}
		for name, c := range map[string]struct {
			change string
			found  bool // when it is read
		}{
			"another claim's": {"UPDATE claims SET state = (SELECT state FROM untouched WHERE claim_id = 'CLM-b-1') WHERE claim_id = '" + claim + "'", true},
			"changed":         {"UPDATE claims SET state = " + s.database.Bytes([]byte("\x01 no state at all")) + " WHERE claim_id = '" + claim + "'", true},
			"put back":        {"UPDATE claims SET state = (SELECT state FROM earlier WHERE claim_id = '" + claim + "') WHERE claim_id = '" + claim + "'", false},
			"removed":         {"DELETE FROM claims WHERE claim_id = '" + claim + "'", false},
			"added":           {"INSERT INTO claims (claim_id, state) SELECT 'CLM-x-1', state FROM untouched WHERE claim_id = '" + claim + "'", false},
		} {
			s.tamper(t, "%s", c.change)
			if _, err := s.verify(t); !IsBroken(err) {
				t.Errorf("%s: %v", name, err)
			}
			if c.found {
				refuses(name)
			}
			s.tamper(t, "DELETE FROM claims; INSERT INTO claims SELECT * FROM untouched")
			s.mustVerify(t, 3)
		}
	}},
}
