-- The tables of a store, and their version. Everything is in the schema analyze_retry, which the search_path names. What the
-- application role may do with it is in grants.sql.
CREATE TABLE schema_version (version integer NOT NULL);
INSERT INTO schema_version VALUES (9);

-- What belongs to the store as a whole: the key that it was made with, and since when its events are published, if they are.
CREATE TABLE meta (
    name  text PRIMARY KEY,
    value text NOT NULL
);

-- The worker takes a record's ID before it stores the record, because the hash covers it. Without a cache: of two records
-- of one claim the later one has the greater ID, whoever wrote them.
CREATE SEQUENCE record_ids CACHE 1;

-- One row for each decision and each outcome; see audit.Record. Never changed, and removed by a purge only.
CREATE TABLE records (
    id                   bigint PRIMARY KEY,
    seq                  bigint      NOT NULL,
    prev                 bigint      NOT NULL,
    job_key              bigint      NOT NULL,
    process_instance_key bigint      NOT NULL,
    seconds              bigint      NOT NULL,
    at                   timestamptz NOT NULL,
    next_retry           timestamptz NOT NULL, -- of the year 1 where there is none, as in Go
    chain                integer     NOT NULL,
    retry_count          integer     NOT NULL,
    max_retries          integer     NOT NULL,
    attempts             integer     NOT NULL,
    kind                 smallint    NOT NULL,
    course               smallint    NOT NULL,
    input_hash           bytea       NOT NULL,
    hash                 bytea       NOT NULL,
    cluster              text        NOT NULL,
    claim_id             text        NOT NULL,
    policy               text        NOT NULL,
    class                text        NOT NULL,
    rule                 text        NOT NULL,
    code                 text        NOT NULL,
    held_by              text        NOT NULL,
    decided_by           text        NOT NULL,
    message              text        NOT NULL,
    variables            text        NOT NULL,
    detail               text        NOT NULL,
    CONSTRAINT records_place UNIQUE (chain, seq)
);
-- Not unique: who appends looks for the records of its jobs behind the locks of their claims.
CREATE INDEX records_job ON records (job_key);
-- A claim's records are found by their links, from its row and from the records that have none behind them.
CREATE INDEX records_claim ON records (claim_id, id) WHERE kind IN (7, 16, 18);
-- A B-tree and no BRIN: what is read in the order of time is read in exactly that order.
CREATE INDEX records_at ON records (at, id);

-- The claims that have not ended, each with its sealed state. The space is for updates; rows come and go with every claim that
-- fails, so they are swept early.
CREATE TABLE claims (
    claim_id text COLLATE "C" PRIMARY KEY,
    state    bytea NOT NULL
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

-- The place in each chain up to which the events of its records are published.
CREATE TABLE outbox (
    chain     integer PRIMARY KEY,
    published bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO outbox SELECT n, 0 FROM generate_series(1, 4) AS n;

-- The signed end of each chain, and what stands for its removed records, if there are any. A transaction that appends holds the
-- row of its chain. The first worker signs the beginnings.
CREATE TABLE heads (
    chain     integer PRIMARY KEY,
    seq       bigint      NOT NULL,
    hash      bytea       NOT NULL,
    at        timestamptz NOT NULL,
    signature bytea       NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE cuts (
    chain     integer PRIMARY KEY,
    seq       bigint      NOT NULL,
    hash      bytea       NOT NULL,
    at        timestamptz NOT NULL,
    signature bytea       NOT NULL
);
INSERT INTO heads SELECT n, 0, '', 'epoch', '' FROM generate_series(1, 4) AS n;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('analyze_retry.purging', true) = 'yes' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the audit records are append-only: % is refused', TG_OP
        USING ERRCODE = 'insufficient_privilege', HINT = 'Old records are removed by: worker audit purge';
END
$$;

-- For each statement: so a change is refused before a row is looked at, and TRUNCATE has no other kind.
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON records
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
