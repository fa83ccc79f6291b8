-- +goose Up
-- No chain covers the marks and the deaths, so they stand twice: here and in an index, where a check finds the one that
-- differs; the places of the marks within their row, because it is written with each batch.
ALTER TABLE heads ADD COLUMN published_again INTEGER NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN answered_again INTEGER NOT NULL DEFAULT 0;
UPDATE heads SET published_again = published, answered_again = answered;
CREATE INDEX outbox_again ON outbox (seq);
CREATE INDEX unanswered_again ON unanswered (seq);
CREATE INDEX deaths_again ON deaths (cluster, job_key, count, at);
