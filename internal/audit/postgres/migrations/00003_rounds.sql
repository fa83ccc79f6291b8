-- The last outcome of a claim is where its present round begins: it is found at once, however many records a claim has. For
-- that the index of all outcomes by time holds only those that are counted, of rounds that were retried, so that an outcome
-- costs no more than it did.
--
-- Workers of the version before go on meanwhile, so no lock holds them up. Each step may be done again after one that failed.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS records_claim_outcome;
CREATE INDEX CONCURRENTLY records_claim_outcome ON records (claim_id, id) WHERE kind >= 16;
DROP INDEX CONCURRENTLY IF EXISTS records_outcome;
CREATE INDEX CONCURRENTLY records_outcome ON records (at) INCLUDE (kind) WHERE kind >= 16 AND retry_count > 0;
