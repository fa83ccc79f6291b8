-- +goose Up
-- The most months for which the store was ever told to keep records: younger ones are never removed. A store that holds
-- records already keeps them for five years, whatever it was told before.
INSERT INTO meta (name, value)
SELECT 'retention', '60' WHERE EXISTS (SELECT 1 FROM records) OR EXISTS (SELECT 1 FROM stubs);
