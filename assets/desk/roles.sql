-- The groups, the schema and its owner. The owner of the database runs it; running it again changes nothing.
DO $roles$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['desk_owner', 'desk_host', 'desk_reviewer', 'desk_gateway', 'desk_auditor'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = one) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', one);
        END IF;
    END LOOP;
    -- PUBLIC may otherwise connect and make temporary tables.
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format(
        'GRANT CONNECT ON DATABASE %I TO desk_host, desk_reviewer, desk_gateway, desk_auditor', current_database());
END
$roles$;
GRANT desk_owner TO CURRENT_USER;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA IF NOT EXISTS desk AUTHORIZATION desk_owner;
SET LOCAL ROLE desk_owner;
-- Everybody may otherwise call what is made later.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
REVOKE ALL ON SCHEMA desk FROM PUBLIC;
GRANT USAGE ON SCHEMA desk TO desk_host, desk_reviewer, desk_gateway, desk_auditor;
CREATE TABLE IF NOT EXISTS desk.migration (
    n integer PRIMARY KEY,
    sha256 bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON desk.migration TO desk_host, desk_reviewer, desk_gateway, desk_auditor;
RESET ROLE;
