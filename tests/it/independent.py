"""Checks proofs with aics-tlog, which shares nothing with this project: python3 independent.py KEY WITNESS|- PROOF..."""

import base64
import sys

from aics_tlog import parse_checkpoint, parse_note, parse_vkey, verify_checkpoint, verify_leaf_inclusion


def main(key, witness, *paths):
    log = parse_vkey(key)
    witnesses = [] if witness == "-" else [parse_vkey(witness)]
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            head, _, text = file.read().partition("\n\n")
        version, extra, index, *path_lines = head.split("\n")
        assert version == "c2sp.org/tlog-proof@v1", version
        record = base64.b64decode(extra.removeprefix("extra "), validate=True)
        note = parse_note(text)
        result = verify_checkpoint(note, log, witnesses, len(witnesses), expected_origin=log.name)
        assert result.ok, result
        checkpoint = parse_checkpoint(note.text)
        proof = [base64.b64decode(line, validate=True) for line in path_lines]
        place = int(index.removeprefix("index "))
        proved = verify_leaf_inclusion(record, place, checkpoint.size, proof, checkpoint.root)
        assert proved, f"{path}: it is not in the tree"
        changed = verify_leaf_inclusion(record + b" ", place, checkpoint.size, proof, checkpoint.root)
        assert not changed
        print(f"proved {place}")


main(*sys.argv[1:])
