-- The claims that failed and have not ended, each with the time of its first record since its last end. They are found without
-- a look at those that ended, however many there are. Triggers keep them, so that no writer can forget to.
--
-- Workers of the version before go on meanwhile, so no lock holds them up for long: the triggers come first, then the claims of
-- the records that are there. Each step may be done again after one that failed.

-- +goose NO TRANSACTION
-- +goose Up
-- Rows come and go with every claim that fails, so they are swept early.
CREATE TABLE IF NOT EXISTS open_claims (
    claim_id text PRIMARY KEY,
    opened   timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE INDEX IF NOT EXISTS open_claims_opened ON open_claims (opened, claim_id);

-- A claim ends when the insurer takes it (16) or it is given up (18). One that a person submits again (17) is open. That an answer
-- did not arrive (5) is about another record. Both functions run with the owner's rights: the application role cannot change the
-- table by itself. They go by claim, or two replicas would wait for one another.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION note_open_claims() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = analyze_retry, pg_temp AS $$
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
-- +goose StatementEnd
REVOKE ALL ON FUNCTION note_open_claims FROM PUBLIC;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION forget_claims() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = analyze_retry, pg_temp AS $$
BEGIN
    DELETE FROM open_claims WHERE claim_id IN (SELECT claim_id FROM removed)
        AND NOT EXISTS (SELECT FROM records WHERE records.claim_id = open_claims.claim_id);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION forget_claims FROM PUBLIC;

-- +goose StatementBegin
DO $$
BEGIN
    DROP TRIGGER IF EXISTS note_open_claims ON records;
    DROP TRIGGER IF EXISTS forget_claims ON records;
    CREATE TRIGGER note_open_claims AFTER INSERT ON records REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION note_open_claims();
    CREATE TRIGGER forget_claims AFTER DELETE ON records REFERENCING OLD TABLE AS removed
        FOR EACH STATEMENT EXECUTE FUNCTION forget_claims();
END
$$;
-- +goose StatementEnd

INSERT INTO open_claims (claim_id, opened)
SELECT claim_id, min(at) FROM records LEFT JOIN (
    SELECT claim_id AS ended, max(id) AS last FROM records WHERE kind IN (16, 18) GROUP BY claim_id
) AS ends ON ended = claim_id WHERE claim_id <> '' AND kind NOT IN (5, 16, 18) AND id > coalesce(last, 0) GROUP BY claim_id
ON CONFLICT (claim_id) DO UPDATE SET opened = least(open_claims.opened, excluded.opened);

-- Those that ended while the statement above ran. It is in a transaction behind those that write, or one of them could have ended a
-- claim that is not there yet for it.
-- +goose StatementBegin
DO $$
BEGIN
    LOCK TABLE records IN SHARE MODE;
    DELETE FROM open_claims WHERE (
        SELECT kind FROM records WHERE records.claim_id = open_claims.claim_id AND kind <> 5 ORDER BY id DESC LIMIT 1
    ) IN (16, 18);
END
$$;
-- +goose StatementEnd

-- Its only question is answered from the claims now.
DROP INDEX CONCURRENTLY IF EXISTS records_outcome;
