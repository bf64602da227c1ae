"""Tests of assets/check/countersign_proof.py by itself: python3 proofs.py FOLDER_OF_THE_CHECKER"""

import base64
import hashlib
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))

import countersign_proof as checker

# RFC 8032, section 7.1, tests 1 to 3.
VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


class Ed25519(unittest.TestCase):
    def test_the_vectors_of_the_rfc(self):
        for public, message, signature in VECTORS:
            public, message, signature = map(bytes.fromhex, (public, message, signature))
            self.assertTrue(checker.ed25519_verifies(public, message, signature))
            self.assertFalse(checker.ed25519_verifies(public, message + b"x", signature))
            for at in range(0, 64, 7):
                changed = bytearray(signature)
                changed[at] ^= 1
                self.assertFalse(checker.ed25519_verifies(public, message, bytes(changed)))

    def test_a_signature_has_one_form(self):
        public, message, signature = map(bytes.fromhex, VECTORS[1])
        s = int.from_bytes(signature[32:], "little") + checker.L
        other = signature[:32] + s.to_bytes(32, "little")
        self.assertFalse(checker.ed25519_verifies(public, message, other))

    def test_keys_of_small_order_sign_nothing(self):
        for y in (0, 1, checker.P - 1):
            weak = y.to_bytes(32, "little")
            self.assertFalse(checker.ed25519_verifies(weak, b"x", weak + bytes(32)))
            self.assertFalse(checker.ed25519_verifies(weak, b"x", (1).to_bytes(32, "little") + bytes(32)))


class Tree(unittest.TestCase):
    def test_each_leaf_of_small_trees_and_no_other(self):
        for size in range(1, 20):
            leaves = [b"%d" % n for n in range(size)]
            for index, line in enumerate(leaves):
                path = inclusion(leaves, index)
                found = checker.root_of(checker.Proof(line, index, path, None), size)
                self.assertEqual(found, root(leaves))
                for wrong in (path + [bytes(32)], path[:-1] if path else [bytes(32)]):
                    with self.assertRaises(checker.Bad):
                        checker.root_of(checker.Proof(line, index, wrong, None), size)
            with self.assertRaises(checker.Bad):
                checker.root_of(checker.Proof(b"", size, [], None), size)


def root(leaves):
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    k = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root(leaves[:k]) + root(leaves[k:])).digest()


def inclusion(leaves, index):
    if len(leaves) == 1:
        return []
    k = 1 << (len(leaves) - 1).bit_length() - 1
    if index < k:
        return inclusion(leaves[:k], index) + [root(leaves[k:])]
    return inclusion(leaves[k:], index - k) + [root(leaves[:k])]


class Order(unittest.TestCase):
    """The key may have signed it, and still it cannot have happened."""

    def notes(self, *kinds):
        records = [{"seq": n, "kind": kind, "id": "x"} for n, kind in enumerate(kinds, 1)]
        # Another proposal stands between them and changes nothing.
        between = [{"seq": 100 + n, "kind": kind, "id": "y"} for n, kind in enumerate(("proposed", "denied"))]
        return list(checker.check_order(records[:1] + between + records[1:]))

    def test_each_life_of_a_proposal(self):
        for ended in ("blocked", "denied", "drilled", "expired", "withdrawn", "unattended", "failed"):
            self.assertEqual(self.notes("proposed", ended), [])
            self.assertEqual(self.notes("proposed", "edited", ended, "erased"), [])
        for run in (["started", "finished"], ["started", "killed", "finished"], ["killed", "failed"], ["failed"], ["started", "expired"]):
            self.assertEqual(self.notes("proposed", "granted", *run, "erased", "erased"), [])
        self.assertEqual(self.notes("proposed", "granted", "started", "finished", "replicated"), [])

    def test_what_cannot_follow_is_named(self):
        for kinds in (
            ["proposed", "started"],
            ["proposed", "finished"],
            ["proposed", "erased"],
            ["proposed", "proposed"],
            ["proposed", "granted", "granted"],
            ["proposed", "granted", "denied"],
            ["proposed", "denied", "granted"],
            ["proposed", "denied", "started"],
            ["proposed", "granted", "finished"],
            ["proposed", "granted", "edited"],
            ["proposed", "granted", "started", "finished", "granted"],
            ["proposed", "granted", "started", "finished", "denied"],
            ["finished", "granted"],
        ):
            with self.assertRaisesRegex(checker.Bad, f"record {len(kinds)}, `{kinds[-1]}`, cannot follow"):
                self.notes(*kinds)

    def test_a_beginning_that_is_not_there_and_kinds_of_later_versions_are_told(self):
        self.assertIn("begin with `started`: earlier ones were removed", *self.notes("started", "finished"))
        self.assertIn("does not know", self.notes("proposed", "pondered", "proposed")[0])


class Texts(unittest.TestCase):
    def test_numbers_and_base64_have_one_form(self):
        for text in ("", "-1", "+1", "01", "1 ", "\u0661", str(2**63), "9" * 40):
            with self.assertRaises(checker.Bad):
                checker.number_of(text)
        self.assertEqual(checker.number_of(str(2**63 - 1)), 2**63 - 1)
        # The last bits of the second are not zero.
        for text in ("AA", "AB==", "AA==\n", "A A="):
            with self.assertRaises(checker.Bad):
                checker.bytes_of(text)

    def test_nothing_that_a_terminal_obeys_is_printed(self):
        self.assertEqual(checker.visible("a\x1b[2J\n\u202eb\u00e4"), "a\\x1b[2J\\n\\u202eb\\xe4")

    def test_the_specifications_key(self):
        text = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
        key = checker.Key.parse(text, kind=checker.NOTE)
        note = checker.Note.parse(
            "This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Zt"
            "g1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n".encode()
        )
        key.check(note)
        with self.assertRaises(checker.Bad):
            key.check(note._replace(text="This is another message.\n"))
        for wrong in (text.replace("foo", "bar"), text[:-4], text.replace("+", " "), ""):
            with self.assertRaises(checker.Bad):
                checker.Key.parse(wrong, kind=checker.NOTE)

    def test_a_witness_signs_with_the_time(self):
        key = checker.Key.parse("witness.example/w1+df1c0a35+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU", kind=checker.COSIGNATURE)
        text = 'log.example\n7\nSBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=\n'
        signature = base64.b64decode(
            "3xwKNQAAAABrSdIAvOm89f5jBdN+jv/J3m+sFs4g/uPHCflz0a0KMpZPSVY00h/xAXPAHUkmeSR8CqbY8MIMkFcgRYJINEQOYKWWCA=="
        )
        note = checker.Note(text, [(key.name, signature[:4], signature[4:])])
        self.assertEqual(key.check(note), 1800000000)
        for time in (1800000000 + 1, 0, 2**63):
            other = time.to_bytes(8, "big") + signature[12:]
            with self.assertRaises(checker.Bad):
                key.check(note._replace(signatures=[(key.name, key.id, other)]))
        for unsigned in ([], [("another", key.id, signature[4:])]):
            with self.assertRaises(checker.Bad):
                key.check(note._replace(signatures=unsigned))
        # A log's key and a witness's are not taken for each other.
        with self.assertRaises(checker.Bad):
            checker.Key.parse("witness.example/w1+df1c0a35+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU", kind=checker.NOTE)


if __name__ == "__main__":
    unittest.main()
