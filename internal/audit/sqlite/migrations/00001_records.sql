-- +goose Up

-- What the store knows about itself: which key it was made with, since when its events are published (if they are),
-- and when it was last probed.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- One row for each audit.Record. There is one writer, so there is one chain, and a record's place in it is its ID.
CREATE TABLE records (
    seq                  INTEGER PRIMARY KEY,
    at                   INTEGER NOT NULL, -- Unix microseconds
    kind                 INTEGER NOT NULL,
    cluster              TEXT NOT NULL,
    job_key              INTEGER NOT NULL,
    process_instance_key INTEGER NOT NULL,
    input_hash           BLOB NOT NULL,
    claim_id             TEXT NOT NULL,
    retry_count          INTEGER NOT NULL,
    next_retry           INTEGER NOT NULL, -- Unix seconds, 0 for none
    message              TEXT NOT NULL,
    variables            TEXT NOT NULL,
    detail               TEXT NOT NULL,
    hash                 BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX records_key ON records (job_key, input_hash, process_instance_key, cluster);
CREATE INDEX records_claim ON records (claim_id);
CREATE INDEX records_at ON records (at);
CREATE INDEX records_outcome ON records (at, kind, retry_count) WHERE kind >= 16;

-- Marks on records: the event is not published, the answer has not reached the broker. Both come to most records in
-- their order, so every record behind a place has the mark, and up to it only those that these tables name.
CREATE TABLE outbox (seq INTEGER PRIMARY KEY) STRICT;
CREATE TABLE unanswered (seq INTEGER PRIMARY KEY) STRICT;

-- The signed end of the chain: one row; and the two places of the marks, which are not signed.
CREATE TABLE heads (
    chain     INTEGER PRIMARY KEY,
    seq       INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    at        INTEGER NOT NULL, -- Unix microseconds
    signature BLOB NOT NULL,
    published INTEGER NOT NULL DEFAULT 0,
    answered  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What stands for removed records.
CREATE TABLE stubs (
    chain     INTEGER NOT NULL,
    first     INTEGER NOT NULL,
    through   INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    oldest    INTEGER NOT NULL, -- Unix microseconds, as the two below
    newest    INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    signature BLOB NOT NULL,
    PRIMARY KEY (chain, first)
) STRICT;

-- Handlings of a job that were begun since the last one that ended.
CREATE TABLE deaths (
    cluster TEXT NOT NULL,
    job_key INTEGER NOT NULL,
    count   INTEGER NOT NULL,
    at      INTEGER NOT NULL DEFAULT (unixepoch() * 1000000), -- Unix microseconds: when the last one was begun
    PRIMARY KEY (cluster, job_key)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER records_are_never_changed BEFORE UPDATE ON records
BEGIN
    SELECT RAISE(ABORT, 'audit records are never changed');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER records_are_removed_behind_a_stub_only BEFORE DELETE ON records
WHEN NOT EXISTS (SELECT 1 FROM stubs WHERE old.seq BETWEEN first AND through)
BEGIN
    SELECT RAISE(ABORT, 'audit records are removed by purge only, which leaves a signed stub');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER stubs_are_never_changed BEFORE UPDATE ON stubs
BEGIN
    SELECT RAISE(ABORT, 'stubs are never changed');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER stubs_are_never_removed BEFORE DELETE ON stubs
BEGIN
    SELECT RAISE(ABORT, 'stubs are never removed');
END;
-- +goose StatementEnd
