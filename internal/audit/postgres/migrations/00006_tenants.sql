-- The tenant of a record, empty for <default>, which is that of every record so far. The hash of a record covers it where it is
-- not empty. Tenants may use the same claim ids, so what is asked about a claim is asked about a claim of a tenant.
--
-- Workers of the version before go on meanwhile: what they write has the default tenant, and no lock holds them up for long. Each
-- step may be done again after one that failed.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE records ADD COLUMN IF NOT EXISTS tenant text NOT NULL DEFAULT '';

-- The open claims and what keeps them change at once.
-- +goose StatementBegin
DO $migration$
BEGIN
    LOCK TABLE records IN SHARE MODE;
    ALTER TABLE open_claims ADD COLUMN IF NOT EXISTS tenant text NOT NULL DEFAULT '';
    ALTER TABLE open_claims DROP CONSTRAINT open_claims_pkey, ADD CONSTRAINT open_claims_pkey PRIMARY KEY (claim_id, tenant);
    DROP INDEX IF EXISTS open_claims_opened;
    CREATE INDEX open_claims_opened ON open_claims (opened, claim_id, tenant);

    CREATE OR REPLACE FUNCTION note_open_claims() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = analyze_retry, pg_temp AS $$
BEGIN
    PERFORM FROM open_claims WHERE (claim_id, tenant) IN (SELECT claim_id, tenant FROM added WHERE kind IN (16, 18)) ORDER BY claim_id, tenant FOR UPDATE;
    DELETE FROM open_claims WHERE (claim_id, tenant) IN (SELECT claim_id, tenant FROM added WHERE kind IN (16, 18));
    INSERT INTO open_claims (claim_id, tenant, opened)
        SELECT claim_id, tenant, min(at) FROM added WHERE claim_id <> '' AND kind NOT IN (5, 16, 18) AND NOT EXISTS (
            SELECT FROM added AS later
                WHERE later.claim_id = added.claim_id AND later.tenant = added.tenant AND later.id > added.id AND later.kind IN (16, 18))
        GROUP BY claim_id, tenant ORDER BY claim_id, tenant
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
    CREATE OR REPLACE FUNCTION forget_claims() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = analyze_retry, pg_temp AS $$
BEGIN
    DELETE FROM open_claims WHERE (claim_id, tenant) IN (SELECT claim_id, tenant FROM removed)
        AND NOT EXISTS (SELECT FROM records WHERE records.claim_id = open_claims.claim_id AND records.tenant = open_claims.tenant);
    RETURN NULL;
END
$$;
END
$migration$;
-- +goose StatementEnd

-- They have names of their own while the earlier ones are in use.
DROP INDEX CONCURRENTLY IF EXISTS records_claim_tenant;
CREATE INDEX CONCURRENTLY records_claim_tenant ON records (claim_id, tenant, id);
DROP INDEX CONCURRENTLY IF EXISTS records_claim;
ALTER INDEX records_claim_tenant RENAME TO records_claim;

DROP INDEX CONCURRENTLY IF EXISTS records_claim_outcome_tenant;
CREATE INDEX CONCURRENTLY records_claim_outcome_tenant ON records (claim_id, tenant, id) WHERE kind >= 16;
DROP INDEX CONCURRENTLY IF EXISTS records_claim_outcome;
ALTER INDEX records_claim_outcome_tenant RENAME TO records_claim_outcome;
