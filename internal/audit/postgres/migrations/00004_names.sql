-- +goose Up

-- What stands for removed records is a tombstone, and a handling that never ended a crash.
ALTER TABLE stubs RENAME TO tombstones;
ALTER INDEX stubs_pkey RENAME TO tombstones_pkey;
ALTER TABLE deaths RENAME TO crashes;
ALTER TABLE crashes RENAME COLUMN begun TO count;
ALTER INDEX deaths_pkey RENAME TO crashes_pkey;

-- purge_records names the table in its text. Nothing else in it changes: neither what it checks, nor who may call it.
-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE replace(pg_get_functiondef('purge_records'::regproc), 'stub', 'tombstone');
END
$$;
-- +goose StatementEnd
