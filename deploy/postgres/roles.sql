-- The roles of the audit store on PostgreSQL. Run it once, in the store's database, as a role that may make roles:
--
--     createdb analyze_retry
--     psql -d analyze_retry -f deploy/postgres/roles.sql
--     psql -d analyze_retry -c '\password analyze_retry_owner' -c '\password analyze_retry_app'
--
-- It may be run again. README.md, beside this file, says what each role is for.

BEGIN;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyze_retry_owner') THEN
        CREATE ROLE analyze_retry_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyze_retry_app') THEN
        CREATE ROLE analyze_retry_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'analyze_retry') THEN
        CREATE SCHEMA analyze_retry AUTHORIZATION analyze_retry_owner;
    END IF;
    -- Nobody else comes in, and neither of the two makes anything outside the schema.
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO analyze_retry_owner, analyze_retry_app', current_database());
END
$$;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

COMMIT;
