//! Each mistake in one of the three files is refused, with its line and what would be right.

use super::testing::TestKey;
use super::*;
use crate::model::Person;

fn person(name: &str) -> Person {
    Person::new(name).unwrap()
}

const PEOPLE: &str =
    "[people.\"ana@example.org\"]\nroles = [\"data\"]\nuids = [1000]\n[people.ben]\n";

fn refused(signers: &str, people: &str, revoked: &str) -> String {
    let read = Electorate::read(signers.as_bytes(), people.as_bytes(), revoked.as_bytes());
    match read {
        Err(e) => e.to_string(),
        Ok(_) => panic!("{signers:?} {people:?} {revoked:?} was read"),
    }
}

#[test]
fn a_bad_line_refuses_allowed_signers_and_says_what_would_be_right() {
    let key = TestKey::new(1).line();
    let ben = TestKey::new(2).signer("ben");
    let with = |options: &str| format!("ben {options} {key}");
    let ns = "namespaces=\"grant@countersign\"";
    let token = TestKey::new(1).on_token(5, 0).signer("ana@example.org");
    let [_, base64] = [0, 1].map(|at| key.split(' ').nth(at).unwrap());
    let weak = {
        use base64::Engine as _;
        let blob = [
            &[0, 0, 0, 11][..],
            b"ssh-ed25519",
            &[0, 0, 0, 32, 1],
            &[0; 31],
        ]
        .concat();
        base64::engine::general_purpose::STANDARD.encode(blob)
    };
    let lines: Vec<(String, &str)> = vec![
        ("ben".into(), "only a name; write `ben namespaces="),
        (format!("ben {key}"), "has no namespaces"),
        (with("valid-after=\"20200101Z\""), "has no namespaces"),
        (
            with("namespaces=\"git\""),
            "is for namespaces=\"git\" and not for votes",
        ),
        (with("namespaces=\"*\""), "`*` is no name of a namespace"),
        (
            with("namespaces=\"grant@countersign,!git\""),
            "`!git` is no name",
        ),
        (with("namespaces=grant@countersign"), "no value in quotes"),
        (with("namespaces"), "no value in quotes"),
        (with(&format!("{ns}x")), "no value in quotes"),
        (with(&format!("{ns},{ns}")), "namespaces twice"),
        (with(&format!("{ns},")), "`` is no option"),
        (
            with(&format!("{ns},namespace=\"a\"")),
            "did you mean `namespaces`?",
        ),
        (
            with(&format!("cert-authority,{ns}")),
            "list each person's own key",
        ),
        (
            with(&format!("CERT-authority,{ns}")),
            "list each person's own key",
        ),
        (
            with(&format!("{ns},valid-after=\"20260101\"")),
            "local time of whoever reads it",
        ),
        (
            with(&format!("{ns},valid-after=\"2026Z\"")),
            "is no time; write UTC as",
        ),
        (
            with(&format!("{ns},valid-after=\"20260231Z\"")),
            "is no time after 1970",
        ),
        (
            with(&format!("{ns},valid-before=\"19690101Z\"")),
            "is no time after 1970",
        ),
        (
            with(&format!("{ns},valid-after=\"-2026101Z\"")),
            "is no time",
        ),
        (
            with(&format!(
                "{ns},valid-after=\"20260102Z\",valid-before=\"20260102Z\""
            )),
            "never valid",
        ),
        (
            with("namespaces=\"grant@countersign"),
            "quote that is not closed",
        ),
        (with("namespaces=\"a\\\"b\""), "`\\` in quotes"),
        (format!("ben {ns}"), "has no key"),
        (format!("ben {ns} ssh-ed25519"), "not followed by a key"),
        (format!("ben {ns} ssh-ed25519 AAAA"), "is damaged"),
        (
            format!("ben {ns} ssh-ed25519 {}", &base64[..60]),
            "is damaged",
        ),
        (format!("ben {ns} ssh-ed25519 {base64}AAAA"), "is damaged"),
        (
            format!("ben {ns} ecdsa-sha2-nistp256 {base64}"),
            "is damaged",
        ),
        (format!("ben {ns} ssh-ed25519 {weak}"), "a weak ed25519 key"),
        (
            format!("ben {ns} ssh-rsa AAAA"),
            "is an RSA key, and none is accepted; make one with `ssh-keygen -t ed25519",
        ),
        (format!("ben {ns} ssh-dss AAAA"), "is a DSA key"),
        (
            format!("ben {ns} ecdsa-sha2-nistp521 AAAA"),
            "another curve",
        ),
        (
            format!("ben {ns} ssh-ed25519-cert-v01@openssh.com AAAA"),
            "is a certificate",
        ),
        (
            format!("ben {ns} ssh-ed25518 {base64}"),
            "did you mean `ssh-ed25519`?",
        ),
        (format!("* {ns} {key}"), "is a pattern"),
        (format!("!ben {ns} {key}"), "is a pattern"),
        (format!("ben,ben {ns} {key}"), "names `ben` twice"),
        (
            format!("ben,ana@example.org {ns} {key}"),
            "a key with two names",
        ),
        (format!("ben, {ns} {key}"), "`` is no name of a person"),
        (format!("\"ben\" {ns} {key}"), "is no name of a person"),
        (format!("zoë {ns} {key}"), "is no name of a person"),
        (
            format!("ana@example.org {ns} {}", TestKey::new(2).line()),
            "a key with two names",
        ),
        (TestKey::new(2).signer("ben"), "stands in line 2 already"),
        (format!("cleo {ns} {key}"), "`cleo` is not in people.toml"),
        (
            format!("ben@example.org {ns} {key}"),
            "add [people.\"ben@example.org\"]",
        ),
        (format!("ben {ns} {key}\r"), "carriage return"),
        (
            format!("ben {ns} {key} \u{202e}x"),
            "a character that is not shown",
        ),
        (
            format!("ben {ns} {key} {}", "x".repeat(4096)),
            "a line has at most 4096",
        ),
    ];
    for (line, wanted) in lines {
        let said = refused(&format!("# people\n{ben}{line}\n"), PEOPLE, "");
        assert!(said.contains(wanted), "{line}\n{said}");
        assert!(said.starts_with("allowed_signers:3: "), "{line}\n{said}");
    }
    // The same key as a plain one and on a token is one key.
    let both = format!("{}{token}", TestKey::new(1).signer("ben"));
    assert!(refused(&both, PEOPLE, "").contains("a key with two names"));
    let latin = Electorate::read(b"\n\xe9", PEOPLE.as_bytes(), b"").unwrap_err();
    assert_eq!(latin.line, Some(2), "{latin}");
    let long = refused(&"\n".repeat((256 << 10) + 1), PEOPLE, "");
    assert!(long.contains("at most 262144"), "{long}");
}

#[test]
fn a_bad_key_or_value_refuses_people() {
    let mut wrong = Vec::new();
    for (text, line, wanted) in [
        (
            "[poeple.ben]",
            1,
            "unknown key `poeple`; did you mean `people`?",
        ),
        (
            "[people.ben]\nrole = [\"data\"]",
            2,
            "unknown key `role` in [people.\"ben\"]; did you mean `roles`?",
        ),
        ("[agents]\nuid = [1]", 2, "did you mean `uids`?"),
        ("people = 1", 1, "`people` is no table"),
        ("[people]\nben = 1", 2, "write [people.\"ben\"]"),
        ("[people.\"b n\"]", 1, "`b n` is no name of a person"),
        ("[people.ben]\n[people.Ben]", 1, "differ in case only"),
        (
            "[people.ben]\nroles = \"data\"",
            2,
            "`roles` is no list; write roles = [\"data\"]",
        ),
        ("[people.ben]\nroles = [1]", 2, "holds texts only"),
        (
            "[people.ben]\nroles = [\n  \"data\",\n  \"Data\",\n]",
            4,
            "`Data` is no name of a role",
        ),
        ("[people.ben]\nroles = [\"a\", \"a\"]", 2, "twice"),
        (
            "[people.ben]\nuids = [-1]",
            2,
            "numbers from 0 to 4294967294",
        ),
        ("[people.ben]\nuids = [4294967295]", 2, "numbers from 0 to"),
        ("[people.ben]\nuids = [\"1\"]", 2, "numbers from 0 to"),
        ("[people.ben]\nuids = [1, 1]", 2, "uid 1 stands here twice"),
        (
            "[people.ana]\nuids = [1]\n[people.ben]\nuids = [1]",
            4,
            "uid 1 is `ana`'s already",
        ),
        (
            "[people.ana]\nuids = [1]\n[agents]\nuids = [1]",
            4,
            "belong to no person",
        ),
        (
            "[people.ana]\nlogins = [\"x\"]\n[people.ben]\nlogins = [\"x\"]",
            4,
            "is `ana`'s already",
        ),
        ("[people.ben]\nlogins = [\"a b\"]", 2, "`a b` is no login"),
        (
            "[people.ben]\nabsent = [\"2026-12-24\"]",
            2,
            "write the first and the last day as",
        ),
        (
            "[people.ben]\nabsent = [\"2026-12-24/20270102\"]",
            2,
            "write the first and the last day as",
        ),
        (
            "[people.ben]\nabsent = [\"2026-12-24/2026-12-23\"]",
            2,
            "ends before it begins",
        ),
        ("[people.ben]\nroles = [", 2, "array"),
        ("[people.ben]\n[people.ben]", 2, "duplicate"),
        (
            "[people.ben] # \u{200b}",
            1,
            "a character that is not shown",
        ),
    ] {
        let said = refused("", text, "");
        if !said.contains(wanted) || !said.starts_with(&format!("people.toml:{line}: ")) {
            wrong.push(format!("{text}\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_bad_line_refuses_the_list_of_revoked_keys() {
    for (line, wanted) in [
        ("SHA256:abc", "43 characters"),
        ("MD5:aa:bb", "neither a public key"),
        ("ssh-ed25519 AAAA", "is damaged"),
        ("ssh-rsa AAAA", "neither a public key"),
        ("ana@example.org", "neither a public key"),
        ("SHA256:abc\r", "carriage return"),
    ] {
        let said = refused("", "", &format!("\n# stolen\n{line}\n"));
        assert!(said.contains(wanted), "{line}\n{said}");
        assert!(said.starts_with("revoked_keys:3: "), "{line}\n{said}");
    }
    let said = Electorate::read(b"", b"", b"SSHKRL\n\0\0").unwrap_err();
    assert!(said.to_string().contains("binary list"), "{said}");
}

#[test]
fn the_three_files_say_who_is_who() {
    let (ana, token, ben) = (
        TestKey::new(1),
        TestKey::p256(2).on_token(1, 0),
        TestKey::new(3),
    );
    let signers = format!(
        "\n# a comment: zoë\n{} of ana\n  {}\nben\tnamespaces=\"git,grant@countersign\",Valid-Before=\"202701010000Z\"\t{}\n",
        ana.signer("ana@example.org").trim_end(),
        token.signer("ana@example.org"),
        ben.line()
    );
    let people = "[people.\"ana@example.org\"]\nroles = [\"data\", \"security\"]\nuids = [1000, 1001]\nlogins = [\"ana\"]\n\
                  absent = [\"2026-12-24/2027-01-02\"]\n[people.ben]\n[people.cleo]\nuids = [0x7d1]\n[agents]\nuids = [2002]\nlogins = [\"gate_ci\"]\n";
    let revoked = format!("# lost\n{} ana's old one\n", token.line());
    let all = Electorate::read(signers.as_bytes(), people.as_bytes(), revoked.as_bytes()).unwrap();
    let ana = person("ana@example.org");
    assert_eq!(all.people().count(), 3);
    assert_eq!(all.person_of_uid(1001), Some(&ana));
    assert_eq!(all.person_of_uid(2001), Some(&person("cleo")));
    assert_eq!(all.person_of_uid(0), None);
    assert_eq!(all.person_of_login("ana"), Some(&ana));
    assert_eq!(all.person_of_login("Ana"), None);
    let login = |login| all.is_service(Account::Login(login));
    assert!(login("gate_ci") && !login("ana") && !login("gate_c"));
    assert!(all.is_service_uid(2002) && !all.is_service_uid(1000));
    assert_eq!(all.roles(&ana).len(), 2);
    assert!(all.roles(&person("zoe")).is_empty());
    for (now, absent) in [
        ("2026-12-23T23:59:59Z", false),
        ("2026-12-24T00:00:00Z", true),
        ("2027-01-02T23:59:59Z", true),
        ("2027-01-03T00:00:00Z", false),
    ] {
        assert_eq!(all.is_absent(&ana, now.parse().unwrap()), absent, "{now}");
    }
    // The revoked one is gone, whoever has no key stays a person.
    let keys = |name: &str| all.keys(&person(name)).count();
    assert_eq!(
        (keys("ana@example.org"), keys("ben"), keys("cleo")),
        (1, 1, 0)
    );
    let until = all.keys(&person("ben")).next().unwrap().valid_before;
    assert_eq!(until, Some("2027-01-01T00:00:00Z".parse().unwrap()));
    let by_print = format!("{} why\n", all.keys(&ana).next().unwrap().key.fingerprint());
    let other =
        Electorate::read(signers.as_bytes(), people.as_bytes(), by_print.as_bytes()).unwrap();
    assert_eq!(other.keys(&ana).count(), 1);
    assert!(other.keys(&ana).all(|signer| signer.key.is_security_key()));
    assert_eq!(all.digests().people, other.digests().people);
    assert_ne!(all.digests().revoked, other.digests().revoked);
}

proptest::proptest! {
    /// Whatever stands in the files, they are read or refused.
    #[test]
    fn no_bytes_are_too_much(
        bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "ana", ",", " ", "\t", "\n", "\"", "=", "namespaces", "grant@countersign", "valid-after", "20260101Z",
                "ssh-ed25519", "sk-ssh-ed25519@openssh.com", "ssh-rsa", "AAAA", "AAAAC3NzaC1lZDI1NTE5AAAAI", "#", "\\",
                "SHA256:", "[people.", "]", "[agents]", "uids", "[1", "é", "\r", "*", "!",
            ]),
            0..24,
        ),
    ) {
        let text = words.concat();
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            let _ = Electorate::read(bytes, b"", b"");
            let _ = Electorate::read(b"", bytes, b"");
            let _ = Electorate::read(b"", b"", bytes);
            let armour = testing::armour(&[b"SSHSIG\0\0\0\x01", bytes].concat());
            let key = Key::read(&TestKey::new(1).line()).unwrap();
            proptest::prop_assert!(signed_by(&key, &armour, "a", b"").is_err());
        }
    }
}
