-- The tables of a store, and their version. Everything is in the schema analyze_retry, which the search_path names. What the
-- application role may do with it is in grants.sql.
CREATE TABLE schema_version (version integer NOT NULL);
INSERT INTO schema_version VALUES (1);

-- What belongs to the store as a whole: the key and the tenant that it was made for, and since when its events are published, if
-- they are.
CREATE TABLE meta (
    name  text PRIMARY KEY,
    value text NOT NULL
);

-- The worker takes a record's ID before it stores the record, because the hash covers it. Without a cache: of two records
-- of one claim the later one has the greater ID, whoever wrote them.
CREATE SEQUENCE record_ids CACHE 1;

-- One row for each decision and each outcome; see audit.Record. Never changed, and removed by purge_records only.
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

-- What stands for removed records.
CREATE TABLE tombstones (
    chain     integer     NOT NULL,
    first     bigint      NOT NULL,
    through   bigint      NOT NULL,
    hash      bytea       NOT NULL,
    oldest    timestamptz NOT NULL,
    newest    timestamptz NOT NULL,
    at        timestamptz NOT NULL,
    signature bytea       NOT NULL,
    PRIMARY KEY (chain, first)
);

-- A row comes and goes here to see whether the store takes writes.
CREATE TABLE probe (at timestamptz NOT NULL);

-- Records younger than this are never removed, whatever a worker is set to. Only the owner can change it.
CREATE TABLE retention (
    one   boolean  PRIMARY KEY DEFAULT true CHECK (one),
    least interval NOT NULL
);
INSERT INTO retention (least) VALUES ('5 years');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tombstones
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A claim ends when the insurer takes it (16) or it is given up (18). One that a person submits again (17) is open. That an answer
-- did not arrive (5) is about another record. Both functions run with the owner's rights: the application role cannot change the
-- table by itself. They go by claim, or two replicas would wait for one another.
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

CREATE FUNCTION forget_claims() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = analyze_retry, pg_temp AS $$
BEGIN
    DELETE FROM open_claims WHERE claim_id IN (SELECT claim_id FROM removed)
        AND NOT EXISTS (SELECT FROM records WHERE records.claim_id = open_claims.claim_id);
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION forget_claims FROM PUBLIC;
CREATE TRIGGER forget_claims AFTER DELETE ON records REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION forget_claims();

-- purge_records runs with the owner's rights, so that the application role, which may delete nothing, can remove what
-- is old enough and has a tombstone in its place. It cannot check the tombstone's signature; `worker audit verify` does.
-- Errors: AR001 too young, AR002 the tombstone does not fit.
CREATE FUNCTION purge_records(of_chain integer, from_seq bigint, through_seq bigint, last_hash bytea,
    oldest_at timestamptz, newest_at timestamptz, removed_at timestamptz, signed bytea)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = analyze_retry, pg_temp AS $$
DECLARE
    keep   interval := (SELECT least FROM retention);
    found  record;
    before bigint;
BEGIN
    SELECT count(*) AS n, min(at) AS oldest, max(at) AS newest INTO found
        FROM records WHERE chain = of_chain AND seq BETWEEN from_seq AND through_seq;
    SELECT coalesce(max(through), 0) INTO before FROM tombstones WHERE chain = of_chain;
    IF found.n = 0 OR found.n <> through_seq - from_seq + 1 OR from_seq <> before + 1
        OR found.oldest <> oldest_at OR found.newest <> newest_at
        OR NOT EXISTS (SELECT FROM records WHERE chain = of_chain AND seq = through_seq AND hash = last_hash)
    THEN
        RAISE EXCEPTION 'the tombstone is not about the oldest records of chain %', of_chain USING ERRCODE = 'AR002';
    END IF;
    IF EXISTS (SELECT FROM unanswered JOIN records USING (id)
        WHERE chain = of_chain AND seq BETWEEN from_seq AND through_seq)
    THEN
        RAISE EXCEPTION 'the tombstone is about records whose answer has not reached the broker' USING ERRCODE = 'AR002';
    END IF;
    IF found.newest > now() - keep THEN
        RAISE EXCEPTION 'the database keeps records for at least %, the newest of these is from %', keep, found.newest
            USING ERRCODE = 'AR001';
    END IF;
    INSERT INTO tombstones VALUES (of_chain, from_seq, through_seq, last_hash, oldest_at, newest_at, removed_at, signed);
    PERFORM set_config('analyze_retry.purging', 'yes', true);
    DELETE FROM outbox USING records
        WHERE outbox.id = records.id AND chain = of_chain AND seq BETWEEN from_seq AND through_seq;
    DELETE FROM records WHERE chain = of_chain AND seq BETWEEN from_seq AND through_seq;
    PERFORM set_config('analyze_retry.purging', '', true);
END
$$;
REVOKE ALL ON FUNCTION purge_records FROM PUBLIC;

-- keep_records raises the floor of the retention to the longest that a worker was ever set to. It runs with the owner's
-- rights, so that the application role, which may not change the floor, can raise it and never lower it.
CREATE FUNCTION keep_records(months integer)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = analyze_retry, pg_temp AS $$
BEGIN
    IF months IS NULL OR months < 1 OR months > 600 THEN
        RAISE EXCEPTION 'records are kept for 1 to 600 months, not for %', months USING ERRCODE = 'invalid_parameter_value';
    END IF;
    UPDATE retention SET least = make_interval(months => keep_records.months)
        WHERE least < make_interval(months => keep_records.months);
END
$$;
REVOKE ALL ON FUNCTION keep_records FROM PUBLIC;
