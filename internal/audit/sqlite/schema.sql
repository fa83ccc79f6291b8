-- The tables of a store, and their version.
CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT;
INSERT INTO schema_version VALUES (2);

-- What the store knows about itself: the key and the tenant that it was made for, since when its events are published (if they
-- are), and when it was last probed.
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
-- The last outcome of a claim is where its present round begins: it is found at once, however many records a claim has.
CREATE INDEX records_claim_outcome ON records (claim_id) WHERE kind >= 16;

-- The claims that failed and have not ended, each with the time of its first record since its last end. They are found without
-- a look at those that ended, however many there are. No chain covers them: they can be made anew from the records, and a check
-- compares them with that.
CREATE TABLE open_claims (
    claim_id TEXT PRIMARY KEY,
    opened   INTEGER NOT NULL -- Unix microseconds
) STRICT, WITHOUT ROWID;

-- Marks on records: the event is not published, the answer has not reached the broker. Both come to most records in
-- their order, so every record behind a place has the mark, and up to it only those that these tables name.
CREATE TABLE outbox (seq INTEGER PRIMARY KEY) STRICT;
CREATE TABLE unanswered (seq INTEGER PRIMARY KEY) STRICT;

-- The signed end of the chain: one row; and the two places of the marks, which are not signed. No chain covers the places, so
-- they stand twice, where a check finds the one that differs.
CREATE TABLE heads (
    chain           INTEGER PRIMARY KEY,
    seq             INTEGER NOT NULL,
    hash            BLOB NOT NULL,
    at              INTEGER NOT NULL, -- Unix microseconds
    signature       BLOB NOT NULL,
    published       INTEGER NOT NULL DEFAULT 0,
    answered        INTEGER NOT NULL DEFAULT 0,
    published_again INTEGER NOT NULL DEFAULT 0,
    answered_again  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What stands for removed records: one row.
CREATE TABLE cuts (
    chain     INTEGER PRIMARY KEY,
    through   INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    at        INTEGER NOT NULL, -- Unix microseconds
    signature BLOB NOT NULL
) STRICT;

-- No chain covers the marks, so they stand twice: in their tables and in these indexes.
CREATE INDEX outbox_again ON outbox (seq);
CREATE INDEX unanswered_again ON unanswered (seq);

CREATE TRIGGER records_are_never_changed BEFORE UPDATE ON records
BEGIN
    SELECT RAISE(ABORT, 'audit records are never changed');
END;

CREATE TRIGGER records_are_removed_behind_a_cut_only BEFORE DELETE ON records
WHEN old.seq > (SELECT coalesce(max(through), 0) FROM cuts)
BEGIN
    SELECT RAISE(ABORT, 'audit records are removed by purge only, which leaves a signed cut');
END;
