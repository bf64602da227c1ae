-- A host's word that its log is not the one that it signed stands among its checkpoints. It has room of its own: whoever has the host's
-- password and fills its checkpoints with noise does not shut it out. The engine checks no signatures, so noise in the shape of that word
-- takes that room. It is short, and there are few, so that readers read all of it.
ALTER TABLE desk.checkpoint ADD COLUMN doubt boolean NOT NULL
    GENERATED ALWAYS AS (substring(body FROM 1 FOR 31) = '{"format":"countersign doubt 1"'::bytea) STORED;
CREATE INDEX ON desk.checkpoint (host, at) WHERE doubt;

CREATE OR REPLACE FUNCTION desk.checkpoint_quota() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $quota$
DECLARE
    -- What the server generates is not there yet.
    is_doubt boolean := substring(NEW.body FROM 1 FOR 31) = '{"format":"countersign doubt 1"'::bytea;
    most integer := CASE WHEN is_doubt THEN 32 ELSE 240 END;
    what text := CASE WHEN is_doubt THEN 'doubts' ELSE 'checkpoints' END;
BEGIN
    IF is_doubt AND octet_length(NEW.body) + octet_length(NEW.signature) > 2048 THEN
        RAISE EXCEPTION 'a doubt has 2048 bytes with its signature, which is the most' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    IF (SELECT count(*) FROM desk.checkpoint c
        WHERE c.host = NEW.host AND c.doubt = is_doubt AND c.at > now() - interval '1 hour') >= most
        AND NOT EXISTS (
            SELECT FROM desk.checkpoint c
            WHERE c.host = NEW.host AND c.size = NEW.size AND c.digest = sha256(NEW.body))
    THEN
        RAISE EXCEPTION 'this host has % % of the last hour, which is the most', most, what USING ERRCODE = 'program_limit_exceeded';
    END IF;
    RETURN NEW;
END
$quota$;
