-- The tables of a store, and their version.
CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT;
INSERT INTO schema_version VALUES (10);

-- What the store knows about itself: the key that it was made with, and since when its events are published, if they are.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- One row for each audit.Record. There is one writer, so there is one chain, and a record's place in it is its ID too.
CREATE TABLE records (
    id                   INTEGER PRIMARY KEY,
    chain                INTEGER NOT NULL,
    seq                  INTEGER NOT NULL,
    at                   INTEGER NOT NULL, -- Unix microseconds
    kind                 INTEGER NOT NULL,
    policy               TEXT NOT NULL,
    class                TEXT NOT NULL,
    rule                 TEXT NOT NULL,
    code                 TEXT NOT NULL,
    course               INTEGER NOT NULL, -- audit.CourseFlags
    attempts             INTEGER NOT NULL,
    seconds              INTEGER NOT NULL,
    cluster              TEXT NOT NULL,
    job_key              INTEGER NOT NULL,
    process_instance_key INTEGER NOT NULL,
    input_hash           BLOB NOT NULL,
    claim_id             TEXT NOT NULL,
    prev                 INTEGER NOT NULL,
    retry_count          INTEGER NOT NULL,
    max_retries          INTEGER NOT NULL,
    next_retry           INTEGER NOT NULL, -- Unix microseconds, of the year 1 where there is none, as in Go
    held_by              TEXT NOT NULL,
    decided_by           TEXT NOT NULL,
    message              TEXT NOT NULL,
    variables            TEXT NOT NULL,
    detail               TEXT NOT NULL,
    hash                 BLOB NOT NULL
) STRICT;

-- Both grow at their right edge. An index of all claims would cost a page for each record: the records of a claim are found
-- by their links, from its row and from those that have none, which are refused decisions (7) and ends (16, 18).
CREATE INDEX records_job ON records (job_key);
CREATE INDEX records_at ON records (at);
CREATE INDEX records_claim ON records (claim_id) WHERE kind IN (7, 16, 18);

-- The claims that ended are counted every minute: by this alone, for a record is long.
CREATE INDEX records_ended ON records (at, kind, policy, class, rule, code, course, attempts, seconds) WHERE kind IN (16, 18);

-- The claims that have not ended, each with what its records add up to; see audit.State. There is no index of the names, which
-- come in any order: it would cost a page for each record. The writer knows where each claim is.
CREATE TABLE claims (
    id       INTEGER PRIMARY KEY,
    claim_id TEXT NOT NULL,
    state    BLOB NOT NULL
) STRICT;

-- The place up to which the events of the records are published: one row.
CREATE TABLE outbox (published INTEGER NOT NULL) STRICT;
INSERT INTO outbox VALUES (0);

-- The signed end of the chain: one row.
CREATE TABLE heads (
    chain     INTEGER PRIMARY KEY,
    seq       INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    at        INTEGER NOT NULL, -- Unix microseconds
    signature BLOB NOT NULL
) STRICT;

-- What stands for removed records: one row.
CREATE TABLE cuts (
    chain     INTEGER PRIMARY KEY,
    seq       INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    at        INTEGER NOT NULL, -- Unix microseconds
    signature BLOB NOT NULL
) STRICT;

CREATE TRIGGER records_are_never_changed BEFORE UPDATE ON records
BEGIN
    SELECT RAISE(ABORT, 'audit records are never changed');
END;

CREATE TRIGGER records_are_removed_behind_a_cut_only BEFORE DELETE ON records
WHEN old.id > (SELECT coalesce(max(seq), 0) FROM cuts)
BEGIN
    SELECT RAISE(ABORT, 'audit records are removed by purge only, which leaves a signed cut');
END;
