-- +goose Up
-- The claims that failed and have not ended, each with the time of its first record since its last end. They are found without
-- a look at those that ended, however many there are. No chain covers them: they can be made anew from the records, and a check
-- compares them with that.
CREATE TABLE open_claims (
    claim_id TEXT PRIMARY KEY,
    opened   INTEGER NOT NULL -- Unix microseconds
) STRICT, WITHOUT ROWID;

-- A claim ends when the insurer takes it (16) or it is given up (18). One that a person submits again (17) is open. That an answer
-- did not arrive (5) is about another record.
INSERT INTO open_claims (claim_id, opened)
SELECT claim_id, at FROM (
    SELECT claim_id, at, min(seq) FROM records LEFT JOIN (
        SELECT claim_id AS ended, max(seq) AS last FROM records WHERE kind IN (16, 18) GROUP BY claim_id
    ) ON ended = claim_id WHERE claim_id <> '' AND kind NOT IN (5, 16, 18) AND seq > coalesce(last, 0) GROUP BY claim_id
);

-- Its only question is answered from the claims now.
DROP INDEX records_outcome;
