-- +goose Up
-- The claims that failed and have not ended, each with the time of its first record since its last end. They are found without
-- a look at those that ended, however many there are. Triggers keep them, so that no writer can forget to. As no chain covers
-- them they stand twice: by claim and, for the oldest first, by time.
CREATE TABLE open_claims (
    claim_id TEXT PRIMARY KEY,
    opened   INTEGER NOT NULL -- Unix microseconds
) STRICT, WITHOUT ROWID;
CREATE INDEX open_claims_opened ON open_claims (opened, claim_id);

-- A claim ends when the insurer takes it (16) or it is given up (18). One that a person submits again (17) is open. That an answer
-- did not arrive (5) is about another record.
INSERT INTO open_claims (claim_id, opened)
SELECT claim_id, min(at) FROM records LEFT JOIN (
    SELECT claim_id AS ended, max(seq) AS last FROM records WHERE kind IN (16, 18) GROUP BY claim_id
) ON ended = claim_id WHERE claim_id <> '' AND kind NOT IN (5, 16, 18) AND seq > coalesce(last, 0) GROUP BY claim_id;

-- +goose StatementBegin
CREATE TRIGGER claims_are_opened AFTER INSERT ON records WHEN new.kind NOT IN (5, 16, 18) AND new.claim_id <> ''
BEGIN
    INSERT INTO open_claims (claim_id, opened) VALUES (new.claim_id, new.at) ON CONFLICT DO NOTHING;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER claims_are_ended AFTER INSERT ON records WHEN new.kind IN (16, 18)
BEGIN
    DELETE FROM open_claims WHERE claim_id = new.claim_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER claims_are_forgotten AFTER DELETE ON records
BEGIN
    DELETE FROM open_claims WHERE claim_id = old.claim_id AND NOT EXISTS (SELECT 1 FROM records WHERE claim_id = old.claim_id);
END;
-- +goose StatementEnd

-- Its only question is answered from the claims now.
DROP INDEX records_outcome;
