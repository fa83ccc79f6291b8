-- +goose Up
-- What stands for removed records is a tombstone, and a handling that never ended a crash.
DROP TRIGGER records_are_removed_behind_a_stub_only;
DROP TRIGGER stubs_are_never_changed;
DROP TRIGGER stubs_are_never_removed;
DROP INDEX deaths_again;
ALTER TABLE stubs RENAME TO tombstones;
ALTER TABLE deaths RENAME TO crashes;
CREATE INDEX crashes_again ON crashes (cluster, job_key, count, at);

-- +goose StatementBegin
CREATE TRIGGER records_are_removed_behind_a_tombstone_only BEFORE DELETE ON records
WHEN NOT EXISTS (SELECT 1 FROM tombstones WHERE old.seq BETWEEN first AND through)
BEGIN
    SELECT RAISE(ABORT, 'audit records are removed by purge only, which leaves a signed tombstone');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER tombstones_are_never_changed BEFORE UPDATE ON tombstones
BEGIN
    SELECT RAISE(ABORT, 'tombstones are never changed');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER tombstones_are_never_removed BEFORE DELETE ON tombstones
BEGIN
    SELECT RAISE(ABORT, 'tombstones are never removed');
END;
-- +goose StatementEnd
