-- The tables of a store, and their version. Everything is in the schema analyze_retry, which the search_path names. What the
-- application role may do with it is in grants.sql.
CREATE TABLE schema_version (version integer NOT NULL);
INSERT INTO schema_version VALUES (2);

-- What belongs to the store as a whole: the key and the tenant that it was made for, and since when its events are published, if
-- they are.
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
    job_key              bigint      NOT NULL,
    process_instance_key bigint      NOT NULL,
    at                   timestamptz NOT NULL,
    next_retry           timestamptz,
    chain                integer     NOT NULL,
    retry_count          integer     NOT NULL,
    kind                 smallint    NOT NULL,
    input_hash           bytea       NOT NULL,
    hash                 bytea       NOT NULL,
    cluster              text        NOT NULL,
    claim_id             text        NOT NULL,
    message              text        NOT NULL,
    variables            text        NOT NULL,
    detail               text        NOT NULL,
    CONSTRAINT records_place UNIQUE (chain, seq),
    CONSTRAINT records_key UNIQUE (job_key, input_hash, process_instance_key, cluster)
);
CREATE INDEX records_claim ON records (claim_id, id);
-- The last outcome of a claim is where its present round begins: it is found at once, however many records a claim has.
CREATE INDEX records_claim_outcome ON records (claim_id, id) WHERE kind >= 16;
-- A B-tree and no BRIN: what is read in the order of time is read in exactly that order.
CREATE INDEX records_at ON records (at, id);

-- The claims that failed and have not ended, each with the time of its first record since its last end. They are found without
-- a look at those that ended, however many there are. Triggers keep them, so that no writer can forget to. Rows come and go with
-- every claim that fails, so they are swept early.
CREATE TABLE open_claims (
    claim_id text PRIMARY KEY,
    opened   timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE INDEX open_claims_opened ON open_claims (opened, claim_id);

-- The records whose event is not published, and those whose answer has not reached the broker. Both come and go with
-- every decision, so they are swept early.
CREATE TABLE outbox (id bigint PRIMARY KEY)
    WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE TABLE unanswered (id bigint PRIMARY KEY)
    WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

-- The signed end of each chain. A transaction that appends holds the row of its chain; the space is for its updates.
CREATE SEQUENCE chains AS integer;
CREATE TABLE heads (
    chain     integer PRIMARY KEY,
    seq       bigint      NOT NULL,
    hash      bytea       NOT NULL,
    at        timestamptz NOT NULL,
    signature bytea       NOT NULL
) WITH (fillfactor = 50);

-- What stands for removed records: one row for each chain that has lost some.
CREATE TABLE cuts (
    chain     integer PRIMARY KEY,
    through   bigint      NOT NULL,
    hash      bytea       NOT NULL,
    at        timestamptz NOT NULL,
    signature bytea       NOT NULL
);

-- A row comes and goes here to see whether the store takes writes.
CREATE TABLE probe (at timestamptz NOT NULL);

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

-- A claim ends when the insurer takes it (16) or it is given up (18). One that a person submits again (17) is open. That an answer
-- did not arrive (5) is about another record. The function runs with the owner's rights: the application role cannot change the
-- table by itself. It goes by claim, or two replicas would wait for one another.
CREATE FUNCTION note_open_claims() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = analyze_retry, pg_temp AS $$
BEGIN
    PERFORM FROM open_claims WHERE claim_id IN (SELECT claim_id FROM added WHERE kind IN (16, 18)) ORDER BY claim_id FOR UPDATE;
    DELETE FROM open_claims WHERE claim_id IN (SELECT claim_id FROM added WHERE kind IN (16, 18));
    INSERT INTO open_claims (claim_id, opened)
        SELECT claim_id, min(at) FROM added WHERE claim_id <> '' AND kind NOT IN (5, 16, 18) AND NOT EXISTS (
            SELECT FROM added AS later WHERE later.claim_id = added.claim_id AND later.id > added.id AND later.kind IN (16, 18))
        GROUP BY claim_id ORDER BY claim_id
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION note_open_claims FROM PUBLIC;
CREATE TRIGGER note_open_claims AFTER INSERT ON records REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION note_open_claims();
