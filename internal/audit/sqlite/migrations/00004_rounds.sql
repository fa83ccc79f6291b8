-- +goose Up
-- The last outcome of a claim is where its present round begins: it is found at once, however many records a claim has. For
-- that the index of all outcomes by time holds only those that are counted, of rounds that were retried, so that an outcome
-- costs no more than it did.
CREATE INDEX records_claim_outcome ON records (claim_id) WHERE kind >= 16;
DROP INDEX records_outcome;
CREATE INDEX records_outcome ON records (at, kind, retry_count) WHERE kind >= 16 AND retry_count > 0;
