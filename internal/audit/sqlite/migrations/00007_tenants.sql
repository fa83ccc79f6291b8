-- +goose Up
-- The tenant of a record, empty for <default>, which is that of every record so far. The hash of a record covers it where it is
-- not empty.
ALTER TABLE records ADD COLUMN tenant TEXT NOT NULL DEFAULT '';

-- Tenants may use the same claim ids, so what is asked about a claim is asked about a claim of a tenant.
DROP INDEX records_claim;
CREATE INDEX records_claim ON records (claim_id, tenant);
DROP INDEX records_claim_outcome;
CREATE INDEX records_claim_outcome ON records (claim_id, tenant) WHERE kind >= 16;

ALTER TABLE open_claims RENAME TO earlier_claims;
CREATE TABLE open_claims (
    claim_id TEXT NOT NULL,
    tenant   TEXT NOT NULL,
    opened   INTEGER NOT NULL, -- Unix microseconds
    PRIMARY KEY (claim_id, tenant)
) STRICT, WITHOUT ROWID;
INSERT INTO open_claims (claim_id, tenant, opened) SELECT claim_id, '', opened FROM earlier_claims;
DROP TABLE earlier_claims;
