-- What the schema analyze_retry defines, as rows of kind, name and definition. It reads the server's catalogue only, so that
-- every role may ask, and asks for the schema by its name: where it is gone there are no rows.
WITH ours AS (
    SELECT c.* FROM pg_class AS c
    WHERE c.relnamespace = to_regnamespace('analyze_retry')
), tables AS (
    SELECT * FROM ours WHERE relkind NOT IN ('i', 'I', 'S', 't', 'c')
), functions AS (
    SELECT * FROM pg_proc WHERE pronamespace = to_regnamespace('analyze_retry')
), grants (grantee, privilege, object) AS (
    SELECT a.grantee, a.privilege_type, t.relname::text
        FROM ours AS t CROSS JOIN LATERAL aclexplode(t.relacl) AS a WHERE a.grantee <> t.relowner
    UNION ALL
    SELECT a.grantee, a.privilege_type, t.relname || '.' || c.attname
        FROM tables AS t JOIN pg_attribute AS c ON c.attrelid = t.oid CROSS JOIN LATERAL aclexplode(c.attacl) AS a WHERE a.grantee <> t.relowner
    UNION ALL
    SELECT a.grantee, a.privilege_type, f.proname::text
        FROM functions AS f CROSS JOIN LATERAL aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) AS a WHERE a.grantee <> f.proowner
    UNION ALL
    SELECT a.grantee, a.privilege_type, 'the schema'
        FROM pg_namespace AS n CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
        WHERE n.oid = to_regnamespace('analyze_retry') AND a.grantee <> n.nspowner AND a.privilege_type <> 'USAGE'
)
SELECT CASE relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'relation' END, relname::text,
    CASE relpersistence WHEN 'p' THEN 'logged' WHEN 'u' THEN 'unlogged' ELSE relpersistence::text END
FROM tables
UNION ALL
SELECT 'column', t.relname || '.' || c.attname, format_type(c.atttypid, c.atttypmod)
    || CASE WHEN c.attnotnull THEN ' not null' ELSE '' END || CASE WHEN c.attgenerated <> '' THEN ' generated' ELSE '' END
    || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
FROM tables AS t JOIN pg_attribute AS c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped
    LEFT JOIN pg_attrdef AS d ON d.adrelid = t.oid AND d.adnum = c.attnum
UNION ALL
SELECT 'sequence', o.relname::text, format('%s increment %s from %s to %s cache %s%s', format_type(s.seqtypid, NULL), s.seqincrement,
    s.seqmin, s.seqmax, s.seqcache, CASE WHEN s.seqcycle THEN ' cycle' ELSE '' END)
FROM ours AS o JOIN pg_sequence AS s ON s.seqrelid = o.oid
UNION ALL
SELECT 'index', i.relname || ' on ' || t.relname, pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ', not valid' END
FROM tables AS t JOIN pg_index AS x ON x.indrelid = t.oid JOIN pg_class AS i ON i.oid = x.indexrelid
UNION ALL
SELECT 'constraint', k.conname || ' on ' || t.relname, pg_get_constraintdef(k.oid)
FROM tables AS t JOIN pg_constraint AS k ON k.conrelid = t.oid
WHERE k.contype IN ('c', 'f', 'p', 'u', 'x') -- PostgreSQL 18 counts NOT NULL among them too
UNION ALL
SELECT 'trigger', g.tgname || ' on ' || t.relname, pg_get_triggerdef(g.oid)
    || CASE g.tgenabled WHEN 'O' THEN '' WHEN 'D' THEN ', disabled' ELSE ', enabled otherwise' END
FROM tables AS t JOIN pg_trigger AS g ON g.tgrelid = t.oid AND NOT g.tgisinternal
UNION ALL
SELECT 'function', f.proname || '(' || pg_get_function_identity_arguments(f.oid) || ')',
    CASE f.prokind WHEN 'a' THEN 'aggregate' ELSE pg_get_functiondef(f.oid) END
FROM functions AS f
UNION ALL
SELECT 'rule', r.rulename || ' on ' || t.relname, pg_get_ruledef(r.oid)
FROM tables AS t JOIN pg_rewrite AS r ON r.ev_class = t.oid AND r.rulename <> '_RETURN'
UNION ALL
SELECT 'policy', p.polname || ' on ' || t.relname, p.polcmd::text
FROM tables AS t JOIN pg_policy AS p ON p.polrelid = t.oid
UNION ALL
SELECT 'row-level security', relname::text, '' FROM tables WHERE relrowsecurity OR relforcerowsecurity
UNION ALL
SELECT DISTINCT 'right', CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee)::text END || ' to ' || privilege || ' on ' || object, ''
FROM grants WHERE privilege <> 'SELECT' -- who may read is not the store's to say
UNION ALL
SELECT 'right', r.rolname || ' to ' || can.what, ''
FROM pg_roles AS r CROSS JOIN LATERAL (
    SELECT 'do everything, as a superuser' WHERE r.rolsuper
    UNION ALL SELECT 'go past row-level security (BYPASSRLS)' WHERE r.rolbypassrls
    UNION ALL SELECT DISTINCT 'act as the owner of the tables, ' || pg_get_userbyid(t.relowner) FROM tables AS t
        WHERE t.relowner <> r.oid AND NOT r.rolsuper AND pg_has_role(r.oid, t.relowner, 'MEMBER')
    UNION ALL SELECT 'act as ' || w.rolname FROM pg_roles AS w -- PostgreSQL 14 and newer have it
        WHERE w.rolname = 'pg_write_all_data' AND NOT r.rolsuper AND pg_has_role(r.oid, w.oid, 'MEMBER')
) AS can (what)
WHERE r.rolname = 'analyze_retry_app'
UNION ALL
SELECT 'owner', pg_get_userbyid(relowner)::text || ' of ' || relname, '' FROM tables
