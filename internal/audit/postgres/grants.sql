-- What the application role may do: add records and read them, and keep what belongs to them. It runs after
-- schema.sql, as the owner, where the role exists; deploy/postgres/roles.sql makes it.
DO $$
BEGIN
    PERFORM pg_advisory_xact_lock(4097083627); -- two workers cannot grant the same at once
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyze_retry_app') THEN
        RETURN;
    END IF;
    GRANT USAGE ON SCHEMA analyze_retry TO analyze_retry_app;
    GRANT SELECT ON schema_version, cuts TO analyze_retry_app;
    GRANT SELECT, INSERT ON records, meta TO analyze_retry_app;
    GRANT SELECT, UPDATE ON heads, outbox TO analyze_retry_app;
    GRANT SELECT, INSERT, UPDATE, DELETE ON claims TO analyze_retry_app;
    GRANT USAGE ON SEQUENCE record_ids TO analyze_retry_app;
END
$$;
