#!/usr/bin/env python3
"""Checks proofs and bundles that `countersign audit` wrote, without Countersign.

    python3 countersign_proof.py --key KEY PROOF...
    python3 countersign_proof.py --key KEY FOLDER

KEY is the log's verifier key or the file that has it (its `key.pub`), which must have come to you on another way than the
proof. Each proof
holds one record of the log, and this program prints the record once it has checked that

1. the checkpoint is signed by that key, and is of that key's log;
2. the record is in the tree that the checkpoint signs, at the place that the proof names and the record states;
3. every witness that was named with --witness signed the checkpoint as well.

FOLDER is a bundle (`audit export --bundle`). Of it, this program checks every proof as above, and that

4. the proofs are of exactly the records in records.jsonl, and all lead to the same checkpoint;
5. each content that a record names has the SHA-256 that the record states, and none is there that no record names;
6. the records of each proposal follow each other as they can have happened: nothing runs before it was granted;
7. `checkpoint` and `key.pub` are those of the proofs.

It does not check what index.html and README.txt say, which nothing signs, nor that the log has no other records. Other files are
named and not looked at. What is no regular file, such as a link or a pipe, is refused.

It needs nothing but Python's standard library (3.8 or later). The formats are C2SP's (c2sp.org): tlog-proof,
tlog-checkpoint, signed-note, tlog-cosignature. Exit code: 0 all proofs are good, 1 one is not, 2 usage, or what cannot be
read at all.
"""

import argparse
import base64
import binascii
import errno
import hashlib
import json
import os
import re
import stat
import sys
from datetime import datetime, timezone
from typing import NamedTuple

# The longest proof that is read: a record is at most 32 MiB, and base64 makes it a third longer.
PROOF_MAX = 64 * 1024 * 1024
# Sizes are numbers of 63 bits.
SIZE_MAX = 2**63 - 1


class Bad(Exception):
    """Why something proves nothing."""

    code = 1


class Unreadable(Bad):
    """Why something cannot even be judged."""

    code = 2


def main(arguments):
    options = read_options(arguments)
    try:
        log = Key.named(options.key, kind=NOTE)
        witnesses = [Key.named(text, kind=COSIGNATURE) for text in options.witness]
    except Bad as why:
        print(f"countersign_proof: {why}", file=sys.stderr)
        return 2
    code = 0
    for path in options.proof:
        try:
            if os.path.isdir(path):
                print(describe_bundle(path, check_bundle(path, log, witnesses)))
            else:
                print(describe(path, check(read(path), log, witnesses)))
        except Bad as why:
            print(f"{visible(path)}: NOT PROVED: {why}")
            code = max(code, why.code)
    return code


def read_options(arguments):
    parser = argparse.ArgumentParser(
        description="Checks proofs and bundles of the log of a Countersign dashboard."
    )
    parser.add_argument("--key", required=True, help="the log's verifier key (name+hash+base64), or its file")
    parser.add_argument("--witness", action="append", default=[], help="the verifier key, or its file, of a witness that must have signed")
    parser.add_argument("proof", nargs="+", help="a file that `countersign audit prove` wrote, or the folder of a bundle")
    return parser.parse_args(arguments)


def opened(path):
    """A regular file, for reading. Neither a link nor anything that keeps a reader waiting, such as a pipe."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    file = os.fdopen(fd, "rb")
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        file.close()
        raise OSError(0, "it is no regular file")
    return file


def read(path, most=PROOF_MAX):
    try:
        with opened(path) as file:
            data = file.read(most + 1)
    except OSError as error:
        raise Bad(f"it cannot be read: {told_of(error)}") from None
    if len(data) > most:
        raise Bad("it is longer than any proof")
    return data


def told_of(error):
    return "it is a link" if error.errno == errno.ELOOP else error.strerror


def json_of(line):
    """A line's JSON."""
    try:
        return json.loads(line.decode("utf-8"))
    except RecursionError:
        raise Unreadable("its JSON is nested deeper than that of any record, and is not read") from None


class Proved(NamedTuple):
    """What a good proof says."""

    record: dict
    line: bytes
    origin: str
    size: int
    # Name and time of each witness that signed.
    witnessed: list
    root: bytes


def check(data, log, witnesses):
    """Checks a proof and returns what it says."""
    proof = Proof.parse(data)
    checkpoint = Checkpoint.parse(proof.note.text)
    if checkpoint.origin != log.name:
        raise Bad(f"other origin: the checkpoint is of {visible(checkpoint.origin)}, and the key is of {visible(log.name)}")
    log.check(proof.note)
    witnessed = [(witness.name, witness.check(proof.note)) for witness in witnesses]
    if root_of(proof, checkpoint.size) != checkpoint.root:
        raise Bad("the record is not in the tree that the checkpoint signs")
    record = record_of(proof)
    return Proved(record, proof.line, checkpoint.origin, checkpoint.size, witnessed, checkpoint.root)


def record_of(proof):
    """The record, whose number must be its place in the tree."""
    try:
        record = json_of(proof.line)
    except ValueError:
        raise Bad("what is proved is no record") from None
    if not isinstance(record, dict) or record.get("seq") != proof.index + 1:
        raise Bad("what is proved is no record of this place in the log")
    return record


def describe(path, proved):
    record = proved.record
    said = [
        f"{visible(path)}: proved",
        f"  record {record['seq']} of {visible(proved.origin)}, in a log of {proved.size} records at least",
    ]
    for name in ("ts", "kind", "id", "actor"):
        if name in record:
            said.append(f"  {name}: {visible(str(record[name]))}")
    said.extend(seen_by(proved.witnessed))
    said.append("  " + visible(proved.line.decode("utf-8")))
    return "\n".join(said)


def seen_by(witnessed):
    for name, time in witnessed:
        yield f"  seen by {visible(name)} at {datetime.fromtimestamp(time, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"


def visible(text):
    """A text that a terminal draws as it is: an agent may have chosen it."""
    return "".join(c if c == " " or (c.isprintable() and c.isascii()) else c.encode("unicode_escape").decode() for c in text)


# Bundles.

# The longest content that a log keeps.
CONTENT_MAX = 1024 * 1024 * 1024
# The longest records.jsonl of a bundle.
RECORDS_MAX = 1024 * 1024 * 1024
# What belongs to a bundle besides proofs and contents.
FILES = {"README.txt", "checkpoint", "countersign_proof.py", "index.html", "key.pub", "records.jsonl"}

# After records of these kinds a proposal is at this stage.
STAGES = {
    "waits": {"proposed", "edited"},
    "granted": {"granted"},
    "started": {"started"},
    "killed": {"killed"},
    "ended": {"blocked", "denied", "drilled", "erased", "expired", "failed", "finished", "replicated", "unattended", "withdrawn"},
}
# At these stages a record of this kind can follow.
FOLLOWS = {
    "proposed": set(),
    "edited": {"waits"},
    "blocked": {"waits"},
    "denied": {"waits"},
    "drilled": {"waits"},
    "withdrawn": {"waits"},
    "unattended": {"waits"},
    "expired": {"waits", "granted", "started"},
    "granted": {"waits"},
    "started": {"granted"},
    "killed": {"granted", "started"},
    "finished": {"started", "killed"},
    "failed": {"waits", "granted", "started", "killed"},
    "erased": {"ended"},
    "replicated": {"ended"},
}


class Bundle(NamedTuple):
    """What a good bundle says."""

    # The oldest first.
    proved: list
    contents: int
    # What is to be known beside that.
    notes: list


def check_bundle(folder, log, witnesses):
    """Checks a bundle and returns what it says."""
    check_kinds_of_files(folder)
    lines = read_lines(os.path.join(folder, "records.jsonl"))
    proved = []
    for line in lines:
        proved.append(check_line(folder, line, log, witnesses))
    if len({(one.size, one.root) for one in proved}) > 1:
        raise Bad("its proofs lead to several checkpoints")
    numbers = [one.record["seq"] for one in proved]
    if numbers != sorted(set(numbers)):
        raise Bad("records.jsonl has a record twice, or not in its order")
    spare = names(folder, "proofs") - {f"{n}.tlog-proof" for n in numbers}
    if spare:
        raise Bad(f"proofs/{visible(min(spare))} proves a record that records.jsonl does not have")
    records = [one.record for one in proved]
    notes = list(check_order(records))
    try:
        contents = check_contents(folder, records)
    except (AttributeError, TypeError):
        raise Bad("a record has another shape than this checker knows") from None
    check_checkpoint(folder, log, proved[0])
    notes.extend(check_beside(folder))
    return Bundle(proved, contents, notes)


def check_kinds_of_files(folder):
    """Nothing of a bundle is a link, a pipe or the like."""
    for where in (".", "proofs", "blobs"):
        for name in sorted(names(folder, where)):
            mode = os.lstat(os.path.join(folder, where, name)).st_mode
            is_folder = where == "." and name not in FILES and stat.S_ISDIR(mode)
            if not is_folder and not stat.S_ISREG(mode):
                raise Bad(f"{visible(os.path.normpath(os.path.join(where, name)))} is no regular file")


def check_order(records):
    """Checks that each record can follow the earlier ones of its proposal, and names what has no end."""
    stages, last = {}, {}
    for record in records:
        if record.get("id") is None:
            # It is of the log, not of a proposal.
            continue
        kind, id = str(record.get("kind")), str(record["id"])
        before = stages.get(id)
        if kind not in FOLLOWS or before == "unknown":
            stages[id] = "unknown"
            yield f"record {record['seq']} is of a kind that this checker does not know, so the order of {id} is not judged"
            continue
        if before is None and kind != "proposed":
            yield f"the records of {id} begin with `{kind}`: earlier ones were removed from the log, or left out"
        if before is not None and before not in FOLLOWS[kind]:
            raise Bad(f"record {record['seq']}, `{kind}`, cannot follow the earlier records of proposal {id}")
        stages[id], last[id] = next(stage for stage, kinds in STAGES.items() if kind in kinds), kind
    for id, stage in stages.items():
        if stage not in ("ended", "unknown"):
            yield f"the records of {id} end with `{last[id]}`: its course is unfinished, or later ones were left out"


def check_checkpoint(folder, log, proved):
    """The files `checkpoint` and `key.pub` say what the proofs say."""
    try:
        note = Note.parse(read(os.path.join(folder, "checkpoint")))
        checkpoint = Checkpoint.parse(note.text)
        log.check(note)
    except Bad as why:
        raise Bad(f"checkpoint: {why}") from None
    if (checkpoint.origin, checkpoint.size, checkpoint.root) != (log.name, proved.size, proved.root):
        raise Bad("checkpoint is another one than the proofs lead to")
    key = read(os.path.join(folder, "key.pub"))
    if key.strip() != log.text().encode():
        raise Bad("key.pub is another key than the one that was given")


def check_beside(folder):
    """Names what nothing proves."""
    there = names(folder, ".")
    for name in sorted(FILES - there):
        raise Bad(f"it is not whole: {name} is missing")
    if read(os.path.join(folder, "countersign_proof.py")) != read(os.path.realpath(__file__)):
        yield "countersign_proof.py in it is another one than this checker"
    for name in sorted(there - FILES - {"proofs", "blobs"}):
        yield f"not looked at: {name}"


def check_line(folder, line, log, witnesses):
    try:
        seq = json_of(line)["seq"]
    except (ValueError, KeyError, TypeError):
        seq = None
    if type(seq) is not int:
        raise Bad("records.jsonl has a line that is no record")
    name = f"proofs/{seq}.tlog-proof"
    try:
        proved = check(read(os.path.join(folder, name)), log, witnesses)
    except Bad as why:
        raise type(why)(f"{name}: {why}") from None
    if proved.line != line:
        raise Bad(f"{name} proves another record than records.jsonl has")
    return proved


def check_contents(folder, records):
    """Checks every content, and returns how many there are."""
    named, needed = set(), set()
    for record in records:
        if record.get("kind") == "erased":
            for content in record.get("contents") or []:
                needed.discard(digest_of(content, "sha256"))
        for digest, must in contents_of(record):
            named.add(digest)
            if must:
                needed.add(digest)
    there = names(folder, "blobs")
    for name in sorted(there):
        if name not in named:
            raise Bad(f"blobs/{visible(name)} is named by no record")
        if sha256_of_file(os.path.join(folder, "blobs", name)) != name:
            raise Bad(f"blobs/{name} has another SHA-256 than its name says")
    lacking = needed - there
    if lacking:
        raise Bad(f"blobs/{visible(min(lacking))} is missing, and a record names it")
    return len(there)


def contents_of(record):
    """The digests of the contents that a record names, and whether each must be there."""
    kind = record.get("kind")
    if kind in ("proposed", "edited"):
        # The digest of code with secrets is salted, and `kept` names what the log has of it.
        yield digest_of(record, "digest" if record.get("kept") is None else "kept"), True
    if kind == "proposed":
        for bound in record.get("inputs") or []:
            # Of the host's own data sets, a log has the digest alone.
            if (bound.get("kind") or {}).get("kind") != "dataset":
                yield digest_of(bound, "sha256"), True
    if kind == "finished":
        kept = record.get("unkept") is None
        for name in ("stdout_sha256", "stderr_sha256"):
            yield digest_of(record, name), kept
        if record.get("result_sha256") is not None:
            yield digest_of(record, "result_sha256"), kept
        for artifact in record.get("artifacts") or []:
            yield digest_of(artifact, "sha256"), kept


def digest_of(thing, name):
    digest = thing.get(name)
    # Some are written with the name of the hash.
    digest = digest[7:] if isinstance(digest, str) and digest.startswith("sha256:") else digest
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
        raise Bad(f"a record has no SHA-256 in {name}")
    return digest


def read_lines(path):
    try:
        with opened(path) as file:
            data = file.read(RECORDS_MAX + 1)
    except OSError as error:
        raise Bad(f"it is no bundle: records.jsonl cannot be read: {told_of(error)}") from None
    if len(data) > RECORDS_MAX:
        raise Bad("records.jsonl is longer than that of any bundle")
    if not data or not data.endswith(b"\n"):
        raise Bad("records.jsonl does not end with a whole line")
    return data[:-1].split(b"\n")


def names(folder, of):
    try:
        return set(os.listdir(os.path.join(folder, of)))
    except OSError as error:
        raise Bad(f"it is no bundle: {of} cannot be read: {error.strerror}") from None


def sha256_of_file(path):
    found, left = hashlib.sha256(), CONTENT_MAX
    try:
        with opened(path) as file:
            while left > 0:
                part = file.read(1024 * 1024)
                if not part:
                    return found.hexdigest()
                found.update(part)
                left -= len(part)
    except OSError as error:
        raise Bad(f"{visible(path)} cannot be read: {told_of(error)}") from None
    raise Bad(f"{visible(path)} is larger than any content")


def describe_bundle(path, bundle):
    first = bundle.proved[0]
    said = [
        f"{visible(path)}: proved",
        f"  {len(bundle.proved)} records of {visible(first.origin)}, in a log of {first.size} records at least;"
        f" {bundle.contents} contents",
    ]
    said.extend(seen_by(first.witnessed))
    for one in bundle.proved:
        record = one.record
        said.append("  ".join(visible(str(record.get(name, "-"))) for name in ("seq", "ts", "kind", "actor", "id")))
        said.extend(f"    {name}: {visible(text)}" for name, text in told(record))
    said.append("  not proved: index.html and README.txt, and that the log has no other records of these proposals")
    said.extend(f"  {visible(note)}" for note in bundle.notes)
    return "\n".join(said)


def told(record):
    """What a person asks of a record first."""
    for name in ("title", "reason", "profile", "digest", "grant_digest", "state", "message"):
        if isinstance(record.get(name), str):
            yield name, record[name]
    by = record.get("by")
    if isinstance(by, dict):
        yield "by", f"uid {by.get('uid')} ({by.get('login')}) on {by.get('host')}"
    gap = record.get("gap")
    if isinstance(gap, dict):
        yield "removed", f"seq {gap.get('first_seq')} to {record.get('through_seq')}, of {gap.get('oldest')} to {gap.get('newest')}"
    viewed = record.get("viewed")
    if isinstance(viewed, dict):
        yield "viewed", json.dumps(viewed, sort_keys=True)


# The proof and its parts.


class Proof(NamedTuple):
    """C2SP tlog-proof, with the record's line as the extra data."""

    line: bytes
    index: int
    # From the leaf's sibling up.
    path: list
    note: "Note"

    @staticmethod
    def parse(data):
        head, empty, note = data.partition(b"\n\n")
        if not empty:
            raise Bad("it is no proof: it has no checkpoint")
        lines = ascii_of(head).split("\n")
        if lines[0] != "c2sp.org/tlog-proof@v1":
            raise Bad("it is no proof: its first line should be c2sp.org/tlog-proof@v1")
        if len(lines) < 3 or not lines[1].startswith("extra ") or not lines[2].startswith("index "):
            raise Bad("it is no proof of a record: the lines `extra` and `index` should follow")
        path = [sha256_of(line) for line in lines[3:]]
        if len(path) > 63:
            raise Bad("it is no proof: no tree is so high")
        return Proof(bytes_of(lines[1][6:]), number_of(lines[2][6:]), path, Note.parse(note))


class Checkpoint(NamedTuple):
    """C2SP tlog-checkpoint."""

    origin: str
    size: int
    root: bytes

    @staticmethod
    def parse(text):
        lines = text.split("\n")
        if len(lines) != 4 or lines[3] or not lines[0]:
            raise Bad("it has no checkpoint: origin, size and root are its three lines")
        return Checkpoint(lines[0], number_of(lines[1]), sha256_of(lines[2]))


class Note(NamedTuple):
    """C2SP signed-note: a text, and (name, key id, signature) of each line under it."""

    text: str
    signatures: list

    @staticmethod
    def parse(data):
        try:
            note = data.decode("utf-8")
        except UnicodeDecodeError:
            raise Bad("its checkpoint is not UTF-8") from None
        if any(c < " " and c != "\n" for c in note):
            raise Bad("its checkpoint has control characters")
        text, empty, lines = note.rpartition("\n\n")
        if not empty or not lines.endswith("\n"):
            raise Bad("its checkpoint has no signatures")
        return Note(text + "\n", [Note.signature(line) for line in lines[:-1].split("\n")])

    @staticmethod
    def signature(line):
        parts = line.split(" ")
        if len(parts) != 3 or parts[0] != "\u2014" or not parts[1] or "+" in parts[1]:
            raise Bad("its checkpoint has a line that is no signature")
        signature = bytes_of(parts[2])
        if len(signature) < 5:
            raise Bad("its checkpoint has a line that is no signature")
        return parts[1], signature[:4], signature[4:]


def ascii_of(data):
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise Bad("it is no proof: it is not ASCII") from None


def bytes_of(text):
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Bad("something that should be base64 is not") from None
    if base64.b64encode(data).decode() != text:
        raise Bad("something is not base64 as it is written")
    return data


def sha256_of(text):
    data = bytes_of(text)
    if len(data) != 32:
        raise Bad("something that should be a hash is not")
    return data


def number_of(text):
    if not (text.isascii() and text.isdigit()) or len(text) > 19 or str(int(text)) != text or int(text) > SIZE_MAX:
        raise Bad("something that should be a number is not")
    return int(text)


# The tree: RFC 6962, section 2.1; the check is that of RFC 9162, section 2.1.3.2.


def root_of(proof, size):
    """The root that the record leads to."""
    at, last = proof.index, size - 1
    if at > last:
        raise Bad("the record is not in the tree that the checkpoint signs: it is newer")
    found = hashlib.sha256(b"\x00" + proof.line).digest()
    for beside in proof.path:
        if last == 0:
            raise Bad("it has too many hashes")
        if at & 1 or at == last:
            found = hashlib.sha256(b"\x01" + beside + found).digest()
            while not at & 1 and at:
                at >>= 1
                last >>= 1
        else:
            found = hashlib.sha256(b"\x01" + found + beside).digest()
        at >>= 1
        last >>= 1
    if last:
        raise Bad("it has too few hashes")
    return found


# Keys.

NOTE = 1
COSIGNATURE = 4


class Key(NamedTuple):
    """C2SP verifier key, Ed25519 only."""

    name: str
    id: bytes
    kind: int
    public: bytes

    @staticmethod
    def named(text, kind):
        """A key, or the file that has it. A key has a plus sign."""
        if "+" in text:
            return Key.parse(text, kind)
        try:
            with open(text, "rb") if os.path.isfile(text) else opened(text) as file:
                return Key.parse(ascii_of(file.read(4096)), kind)
        except OSError as error:
            raise Bad(f"{visible(text)} cannot be read: {told_of(error)}; a key reads name+hash+base64") from None

    def text(self):
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(bytes([self.kind]) + self.public).decode()}"

    @staticmethod
    def parse(text, kind):
        name, _, rest = text.strip().partition("+")
        hex_id, _, encoded = rest.partition("+")
        try:
            material = bytes_of(encoded)
        except Bad:
            material = b""
        if not name or any(c.isspace() for c in name) or len(material) != 33:
            raise Bad("a key reads name+hash+base64, and is of Ed25519")
        if material[0] != kind:
            raise Bad(f"a {'log' if kind == NOTE else 'witness'}'s key is of another kind than this one")
        full = hashlib.sha256(name.encode() + b"\n" + material).digest()
        if full[:4].hex() != hex_id:
            raise Bad("the key's hash is not that of its name and key")
        return Key(name, full[:4], kind, material[1:])

    def check(self, note):
        """Every signature of this key must be right, and there must be one. Returns the time that a witness states."""
        mine = [signature for name, id, signature in note.signatures if (name, id) == (self.name, self.id)]
        if not mine:
            raise Bad(f"unknown key: {visible(self.name)} did not sign the checkpoint")
        times = [self.check_one(note.text, signature) for signature in mine]
        return max(times)

    def check_one(self, text, signature):
        time, message = 0, text.encode()
        if self.kind == COSIGNATURE:
            time, signature = int.from_bytes(signature[:8], "big"), signature[8:]
            message = f"cosignature/v1\ntime {time}\n{text}".encode()
            # Later than any that a calendar has.
            if not 0 < time < 253402300800:
                raise Bad(f"bad signature: {visible(self.name)} states no time")
        if not ed25519_verifies(self.public, message, signature):
            raise Bad(f"bad signature: {visible(self.name)} did not sign this checkpoint")
        return time


# Ed25519: RFC 8032, section 5.1. Only public data goes through it, so it need not take the same time for all.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def ed25519_verifies(public, message, signature):
    if len(public) != 32 or len(signature) != 64:
        return False
    key, commitment = point(public), point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    # A larger one would be another form of the same signature; keys of small order sign everything.
    if key is None or commitment is None or s >= L or is_small(key) or is_small(commitment):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    return equal(times(s, BASE), add(commitment, times(k, key)))


def point(encoded):
    """The point in extended coordinates (X, Y, Z, T), or None if there is none."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    x = x_of(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


def x_of(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


def add(p, q):
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(n, p):
    q = (0, 1, 1, 0)
    while n:
        if n & 1:
            q = add(q, p)
        p = add(p, p)
        n >>= 1
    return q


def equal(p, q):
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


def is_small(p):
    return equal(times(8, p), (0, 1, 1, 0))


BASE = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
