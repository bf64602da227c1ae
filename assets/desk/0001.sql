-- What hosts, reviewers and gateways hand to each other: rows that are only ever added, of bytes that the engine does not read.
--
-- Whoever may read or add which row follows from `member` and from the login of the session, never from a setting that a client
-- could change. Nothing here decides: hosts check the signatures in the bodies.

CREATE TABLE desk.member (
    login text PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('host', 'reviewer', 'gateway', 'auditor')),
    host text CHECK (host ~ '^[A-Za-z0-9._-]{1,64}$'),
    person text CHECK (person ~ '^[A-Za-z0-9._@+-]{1,128}$'),
    roles text[] NOT NULL DEFAULT '{}' CHECK (array_to_string(roles, ',') ~ '^[a-z0-9_,-]*$' AND octet_length(array_to_string(roles, ',')) <= 2048),
    CHECK ((kind = 'host') = (host IS NOT NULL)),
    CHECK ((kind = 'reviewer') = (person IS NOT NULL)),
    CHECK (kind = 'reviewer' OR roles = '{}')
);

CREATE TABLE desk.offer (
    host text NOT NULL CHECK (octet_length(host) <= 64),
    proposal uuid NOT NULL,
    version integer NOT NULL CHECK (version >= 0),
    -- Who may read it: people with one of these, everybody if there is none.
    roles text[] NOT NULL CHECK (array_to_string(roles, ',') ~ '^[a-z0-9_,-]*$' AND octet_length(array_to_string(roles, ',')) <= 2048),
    deadline timestamptz NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 1048576),
    signature text NOT NULL CHECK (octet_length(signature) <= 4096),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (host, proposal, version)
);
CREATE INDEX ON desk.offer (at, host, proposal, version);
CREATE INDEX ON desk.offer (host, deadline);
CREATE INDEX ON desk.offer (deadline);

-- "Somebody reads this": a hint.
CREATE TABLE desk.claim (
    host text NOT NULL CHECK (octet_length(host) <= 64),
    proposal uuid NOT NULL,
    person text NOT NULL,
    login text NOT NULL DEFAULT current_user,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Who reads on says so once a minute.
    minute timestamptz NOT NULL DEFAULT date_trunc('minute', clock_timestamp()),
    PRIMARY KEY (host, proposal, login, minute)
);
CREATE INDEX ON desk.claim (at);

-- Keyed by its bytes too: of several votes of one person the host takes those that verify.
CREATE TABLE desk.vote (
    host text NOT NULL CHECK (octet_length(host) <= 64),
    proposal uuid NOT NULL,
    version integer NOT NULL,
    kind text NOT NULL CHECK (kind IN ('grant', 'deny', 'veto')),
    voter text NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 16384),
    digest bytea NOT NULL GENERATED ALWAYS AS (sha256(body)) STORED,
    login text NOT NULL DEFAULT current_user,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (host, proposal, version, login, kind, digest)
);

CREATE TABLE desk.statement (
    host text NOT NULL CHECK (octet_length(host) <= 64),
    -- Or the request that it answers.
    proposal uuid NOT NULL,
    seq bigint NOT NULL CHECK (seq >= 0),
    -- Whom it is for: everybody who may read the offer if it is nobody.
    person text CHECK (person ~ '^[A-Za-z0-9._@+-]{1,128}$'),
    -- Whose request it answers. Then nobody else may read it.
    gateway text CHECK (gateway ~ '^[A-Za-z0-9._@+-]{1,63}$'),
    CHECK (person IS NULL OR gateway IS NULL),
    kind text NOT NULL CHECK (kind IN ('ack', 'decision', 'outcome', 'tally', 'proof')),
    body bytea NOT NULL CHECK (octet_length(body) <= 1048576),
    signature text NOT NULL CHECK (octet_length(signature) <= 4096),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (host, proposal, seq)
);
CREATE INDEX ON desk.statement (proposal);
CREATE INDEX ON desk.statement (host, at);

CREATE TABLE desk.request (
    host text NOT NULL CHECK (host ~ '^[A-Za-z0-9._-]{1,64}$'),
    id uuid NOT NULL,
    deadline timestamptz NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 1048576),
    login text NOT NULL DEFAULT current_user,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (login, host, id)
);
CREATE INDEX ON desk.request (host, at, login, id);
CREATE INDEX ON desk.request (login, at);

-- Keyed by its bytes too: two of one size and of other roots are the proof that a log was rewritten.
CREATE TABLE desk.checkpoint (
    host text NOT NULL CHECK (octet_length(host) <= 64),
    size bigint NOT NULL CHECK (size >= 0),
    body bytea NOT NULL CHECK (octet_length(body) <= 16384),
    digest bytea NOT NULL GENERATED ALWAYS AS (sha256(body)) STORED,
    signature text NOT NULL CHECK (octet_length(signature) <= 4096),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (host, size, digest)
);
CREATE INDEX ON desk.checkpoint (at);
CREATE INDEX ON desk.checkpoint (host, at);

CREATE TABLE desk.cosignature (
    host text NOT NULL CHECK (octet_length(host) <= 64),
    size bigint NOT NULL CHECK (size >= 0),
    -- Of the checkpoint: what was signed stays known if that is removed.
    root bytea NOT NULL CHECK (octet_length(root) = 32),
    cosigner text NOT NULL CHECK (octet_length(cosigner) <= 64),
    signature text NOT NULL CHECK (octet_length(signature) <= 4096),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (host, size, root, cosigner)
);
CREATE INDEX ON desk.cosignature (host, cosigner, at);

ALTER TABLE desk.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk.member FORCE ROW LEVEL SECURITY;
ALTER TABLE desk.offer ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk.offer FORCE ROW LEVEL SECURITY;
ALTER TABLE desk.claim ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk.claim FORCE ROW LEVEL SECURITY;
ALTER TABLE desk.vote ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk.vote FORCE ROW LEVEL SECURITY;
ALTER TABLE desk.statement ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk.statement FORCE ROW LEVEL SECURITY;
ALTER TABLE desk.request ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk.request FORCE ROW LEVEL SECURITY;
ALTER TABLE desk.checkpoint ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk.checkpoint FORCE ROW LEVEL SECURITY;
ALTER TABLE desk.cosignature ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk.cosignature FORCE ROW LEVEL SECURITY;

-- The owner keeps the list of members, and removes what belongs to no open offer. No other role changes a row.
CREATE POLICY owner ON desk.member TO desk_owner USING (true) WITH CHECK (true);
CREATE POLICY owner_sees ON desk.offer FOR SELECT TO desk_owner USING (true);
CREATE POLICY owner_sees ON desk.request FOR SELECT TO desk_owner USING (true);
CREATE POLICY owner_sees ON desk.claim FOR SELECT TO desk_owner USING (true);
CREATE POLICY owner_sees ON desk.vote FOR SELECT TO desk_owner USING (true);
CREATE POLICY owner_sees ON desk.statement FOR SELECT TO desk_owner USING (true);
CREATE POLICY owner_removes ON desk.offer FOR DELETE TO desk_owner USING (deadline < now());
CREATE POLICY owner_removes ON desk.request FOR DELETE TO desk_owner USING (deadline < now());
CREATE POLICY owner_removes ON desk.claim FOR DELETE TO desk_owner
    USING (NOT EXISTS (SELECT FROM desk.offer o WHERE o.host = claim.host AND o.proposal = claim.proposal AND o.deadline >= now()));
CREATE POLICY owner_removes ON desk.vote FOR DELETE TO desk_owner
    USING (NOT EXISTS (SELECT FROM desk.offer o WHERE o.host = vote.host AND o.proposal = vote.proposal AND o.deadline >= now()));
CREATE POLICY owner_removes ON desk.statement FOR DELETE TO desk_owner
    USING (NOT EXISTS (SELECT FROM desk.offer o WHERE o.host = statement.host AND o.proposal = statement.proposal AND o.deadline >= now()));

CREATE POLICY own ON desk.member FOR SELECT TO desk_host, desk_reviewer, desk_gateway
    USING (login = current_user::text);
GRANT SELECT ON desk.member TO desk_host, desk_reviewer, desk_gateway;

-- Hosts: what is their own, the votes and requests for them, and everybody's checkpoints.
CREATE POLICY host_sees ON desk.offer FOR SELECT TO desk_host
    USING (host = (SELECT m.host FROM desk.member m WHERE m.login = current_user::text));
CREATE POLICY host_adds ON desk.offer FOR INSERT TO desk_host
    WITH CHECK (host = (SELECT m.host FROM desk.member m WHERE m.login = current_user::text));
CREATE POLICY host_sees ON desk.statement FOR SELECT TO desk_host
    USING (host = (SELECT m.host FROM desk.member m WHERE m.login = current_user::text));
CREATE POLICY host_adds ON desk.statement FOR INSERT TO desk_host
    WITH CHECK (host = (SELECT m.host FROM desk.member m WHERE m.login = current_user::text));
CREATE POLICY host_sees ON desk.vote FOR SELECT TO desk_host
    USING (host = (SELECT m.host FROM desk.member m WHERE m.login = current_user::text));
CREATE POLICY host_sees ON desk.request FOR SELECT TO desk_host
    USING (host = (SELECT m.host FROM desk.member m WHERE m.login = current_user::text));
CREATE POLICY host_sees ON desk.checkpoint FOR SELECT TO desk_host USING (true);
CREATE POLICY host_adds ON desk.checkpoint FOR INSERT TO desk_host
    WITH CHECK (host = (SELECT m.host FROM desk.member m WHERE m.login = current_user::text));
CREATE POLICY host_sees ON desk.cosignature FOR SELECT TO desk_host USING (true);
CREATE POLICY host_adds ON desk.cosignature FOR INSERT TO desk_host
    WITH CHECK (
        cosigner = (SELECT m.host FROM desk.member m WHERE m.login = current_user::text)
        AND EXISTS (SELECT FROM desk.checkpoint k WHERE k.host = cosignature.host AND k.size = cosignature.size));
GRANT SELECT, INSERT (host, proposal, version, roles, deadline, body, signature) ON desk.offer TO desk_host;
GRANT SELECT, INSERT (host, proposal, seq, person, gateway, kind, body, signature) ON desk.statement TO desk_host;
GRANT SELECT ON desk.vote, desk.request TO desk_host;
GRANT SELECT, INSERT (host, size, body, signature) ON desk.checkpoint TO desk_host;
GRANT SELECT, INSERT (host, size, root, cosigner, signature) ON desk.cosignature TO desk_host;

-- Reviewers: offers for their roles, what is said about those, and their own votes. Nobody else's: who votes has not seen how
-- others did. The columns `login` and `at` are nobody's to write.
CREATE POLICY reviewer_sees ON desk.offer FOR SELECT TO desk_reviewer
    USING (roles = '{}' OR roles && (SELECT m.roles FROM desk.member m WHERE m.login = current_user::text));
-- A proof has a record of the host's log in it, which is for auditors.
CREATE POLICY reviewer_sees ON desk.statement FOR SELECT TO desk_reviewer
    USING (
        kind <> 'proof'
        AND gateway IS NULL
        AND (person IS NULL OR person = (SELECT m.person FROM desk.member m WHERE m.login = current_user::text))
        AND EXISTS (SELECT FROM desk.offer o WHERE o.host = statement.host AND o.proposal = statement.proposal));
CREATE POLICY reviewer_sees ON desk.claim FOR SELECT TO desk_reviewer
    USING (EXISTS (SELECT FROM desk.offer o WHERE o.host = claim.host AND o.proposal = claim.proposal));
CREATE POLICY reviewer_adds ON desk.claim FOR INSERT TO desk_reviewer
    WITH CHECK (
        login = current_user::text
        AND person = (SELECT m.person FROM desk.member m WHERE m.login = current_user::text)
        AND EXISTS (SELECT FROM desk.offer o WHERE o.host = claim.host AND o.proposal = claim.proposal));
CREATE POLICY reviewer_sees ON desk.vote FOR SELECT TO desk_reviewer USING (login = current_user::text);
CREATE POLICY reviewer_adds ON desk.vote FOR INSERT TO desk_reviewer
    WITH CHECK (
        login = current_user::text
        AND voter = (SELECT m.person FROM desk.member m WHERE m.login = current_user::text)
        AND EXISTS (
            SELECT FROM desk.offer o
            WHERE o.host = vote.host AND o.proposal = vote.proposal AND o.version = vote.version));
CREATE POLICY reviewer_sees ON desk.checkpoint FOR SELECT TO desk_reviewer USING (true);
CREATE POLICY reviewer_sees ON desk.cosignature FOR SELECT TO desk_reviewer USING (true);
GRANT SELECT ON desk.offer, desk.statement, desk.checkpoint, desk.cosignature TO desk_reviewer;
GRANT SELECT, INSERT (host, proposal, person) ON desk.claim TO desk_reviewer;
GRANT SELECT, INSERT (host, proposal, version, kind, voter, body) ON desk.vote TO desk_reviewer;

-- Gateways of agents elsewhere: what they asked, and the answers to it. Not what has the name of a request of theirs: anybody could
-- ask under the name of another one's request.
CREATE POLICY gateway_sees ON desk.request FOR SELECT TO desk_gateway USING (login = current_user::text);
CREATE POLICY gateway_adds ON desk.request FOR INSERT TO desk_gateway
    WITH CHECK (
        login = current_user::text
        AND EXISTS (SELECT FROM desk.member m WHERE m.login = current_user::text AND m.kind = 'gateway'));
CREATE POLICY gateway_sees ON desk.statement FOR SELECT TO desk_gateway
    USING (
        gateway = current_user::text
        AND kind <> 'proof'
        AND EXISTS (SELECT FROM desk.member m WHERE m.login = current_user::text AND m.kind = 'gateway'));
GRANT SELECT, INSERT (host, id, deadline, body) ON desk.request TO desk_gateway;
GRANT SELECT ON desk.statement TO desk_gateway;

CREATE POLICY auditor_sees ON desk.member FOR SELECT TO desk_auditor USING (true);
CREATE POLICY auditor_sees ON desk.offer FOR SELECT TO desk_auditor USING (true);
CREATE POLICY auditor_sees ON desk.claim FOR SELECT TO desk_auditor USING (true);
CREATE POLICY auditor_sees ON desk.vote FOR SELECT TO desk_auditor USING (true);
CREATE POLICY auditor_sees ON desk.statement FOR SELECT TO desk_auditor USING (true);
CREATE POLICY auditor_sees ON desk.request FOR SELECT TO desk_auditor USING (true);
CREATE POLICY auditor_sees ON desk.checkpoint FOR SELECT TO desk_auditor USING (true);
CREATE POLICY auditor_sees ON desk.cosignature FOR SELECT TO desk_auditor USING (true);
GRANT SELECT ON desk.member, desk.offer, desk.claim, desk.vote, desk.statement, desk.request, desk.checkpoint,
    desk.cosignature TO desk_auditor;

-- Quotas. Each counts as the login that adds, so it sees and tells nothing that this login may not see. What is there already is
-- not counted against sending it again.
CREATE FUNCTION desk.offer_quota() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $quota$
DECLARE
    there bigint;
    bytes bigint;
BEGIN
    -- What never ends would never be removed.
    IF NEW.deadline > now() + interval '31 days' THEN
        RAISE EXCEPTION 'a deadline is at most 31 days away' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    SELECT count(*), coalesce(sum(octet_length(o.body)), 0) INTO there, bytes
        FROM desk.offer o WHERE o.host = NEW.host AND o.deadline > now();
    IF (there >= 1000 OR bytes + octet_length(NEW.body) > 67108864)
        AND NOT EXISTS (
            SELECT FROM desk.offer o
            WHERE o.host = NEW.host AND o.proposal = NEW.proposal AND o.version = NEW.version)
    THEN
        RAISE EXCEPTION 'this host has 1000 open offers or 64 MiB of them, which is the most' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    RETURN NEW;
END
$quota$;
CREATE TRIGGER quota BEFORE INSERT ON desk.offer FOR EACH ROW EXECUTE FUNCTION desk.offer_quota();

CREATE FUNCTION desk.vote_quota() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $quota$
BEGIN
    IF (SELECT count(*) FROM desk.vote v
        WHERE v.host = NEW.host AND v.proposal = NEW.proposal AND v.version = NEW.version AND v.login = current_user::text) >= 16
        AND NOT EXISTS (
            SELECT FROM desk.vote v
            WHERE v.host = NEW.host AND v.proposal = NEW.proposal AND v.version = NEW.version
                AND v.login = current_user::text AND v.kind = NEW.kind AND v.digest = sha256(NEW.body))
    THEN
        RAISE EXCEPTION 'this login has 16 votes on this offer, which is the most' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    RETURN NEW;
END
$quota$;
CREATE TRIGGER quota BEFORE INSERT ON desk.vote FOR EACH ROW EXECUTE FUNCTION desk.vote_quota();

CREATE FUNCTION desk.request_quota() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $quota$
DECLARE
    there bigint;
    bytes bigint;
BEGIN
    IF NEW.deadline > now() + interval '31 days' THEN
        RAISE EXCEPTION 'a deadline is at most 31 days away' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    -- Deadlines are short. What is past counts for a while too, or there would be no bound.
    SELECT count(*), coalesce(sum(octet_length(r.body)), 0) INTO there, bytes
        FROM desk.request r
        WHERE r.login = current_user::text AND (r.deadline > now() OR r.at > now() - interval '1 hour');
    IF (there >= 1000 OR bytes + octet_length(NEW.body) > 67108864)
        AND NOT EXISTS (
            SELECT FROM desk.request r WHERE r.login = current_user::text AND r.host = NEW.host AND r.id = NEW.id)
    THEN
        RAISE EXCEPTION 'this login has 1000 requests, or 64 MiB of them, that are open or of the last hour, which is the most' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    RETURN NEW;
END
$quota$;
CREATE TRIGGER quota BEFORE INSERT ON desk.request FOR EACH ROW EXECUTE FUNCTION desk.request_quota();

-- A host publishes three a minute at most. More would be noise in its name, which its readers look through.
CREATE FUNCTION desk.checkpoint_quota() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $quota$
BEGIN
    IF (SELECT count(*) FROM desk.checkpoint c WHERE c.host = NEW.host AND c.at > now() - interval '1 hour') >= 240
        AND NOT EXISTS (
            SELECT FROM desk.checkpoint c
            WHERE c.host = NEW.host AND c.size = NEW.size AND c.digest = sha256(NEW.body))
    THEN
        RAISE EXCEPTION 'this host has 240 checkpoints of the last hour, which is the most' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    RETURN NEW;
END
$quota$;
CREATE TRIGGER quota BEFORE INSERT ON desk.checkpoint FOR EACH ROW EXECUTE FUNCTION desk.checkpoint_quota();

-- As many as there can be checkpoints to sign.
CREATE FUNCTION desk.cosignature_quota() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $quota$
BEGIN
    IF (SELECT count(*) FROM desk.cosignature c
        WHERE c.host = NEW.host AND c.cosigner = NEW.cosigner AND c.at > now() - interval '1 hour') >= 240
        AND NOT EXISTS (
            SELECT FROM desk.cosignature c
            WHERE c.host = NEW.host AND c.size = NEW.size AND c.root = NEW.root AND c.cosigner = NEW.cosigner)
    THEN
        RAISE EXCEPTION 'this host has signed 240 checkpoints of that one within the last hour, which is the most' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    RETURN NEW;
END
$quota$;
CREATE TRIGGER quota BEFORE INSERT ON desk.cosignature FOR EACH ROW EXECUTE FUNCTION desk.cosignature_quota();

-- Wakes those whom a new row is for. Its text is empty: who wakes reads the tables.
CREATE FUNCTION desk.wake_people() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $wake$
BEGIN
    PERFORM pg_notify('desk_people', '');
    RETURN NULL;
END
$wake$;
CREATE FUNCTION desk.wake_host() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $wake$
BEGIN
    PERFORM pg_notify('desk_' || left(encode(sha256(convert_to(NEW.host, 'UTF8')), 'hex'), 32), '');
    RETURN NULL;
END
$wake$;
CREATE TRIGGER wake AFTER INSERT ON desk.offer FOR EACH ROW EXECUTE FUNCTION desk.wake_people();
-- Not for what is one person's: when it comes would tell others that this person voted.
CREATE TRIGGER wake AFTER INSERT ON desk.statement FOR EACH ROW
    WHEN (NEW.person IS NULL AND NEW.gateway IS NULL AND NEW.kind <> 'proof') EXECUTE FUNCTION desk.wake_people();
CREATE FUNCTION desk.wake_gateways() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $wake$
BEGIN
    PERFORM pg_notify('desk_gateways', '');
    RETURN NULL;
END
$wake$;
CREATE TRIGGER wake_gateways AFTER INSERT ON desk.statement FOR EACH ROW
    WHEN (NEW.gateway IS NOT NULL) EXECUTE FUNCTION desk.wake_gateways();
CREATE TRIGGER wake AFTER INSERT ON desk.vote FOR EACH ROW EXECUTE FUNCTION desk.wake_host();
CREATE TRIGGER wake AFTER INSERT ON desk.request FOR EACH ROW EXECUTE FUNCTION desk.wake_host();
