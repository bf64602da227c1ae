//! `[grant]`: who has to grant, what a file may ask for, and the errors of invalid rules.

use countersign::model::{Capability, Quorum, VerdictKind, When};

use super::{load, load_error, write};

fn extending(grant: &str) -> String {
    format!("name = \"grave\"\nextends = \"analysis\"\n{grant}")
}

#[test]
fn one_table_is_one_rule_and_its_defaults_are_the_strict_ones() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "grave",
        &extending(
            "[grant]\nquorum = 2\nroles = [\"data\"]\nveto = [\"security\"]\ntouch = true\n",
        ),
    );
    let all = load(dir.path()).unwrap();
    let grave = all.iter().find(|p| p.name == "grave").unwrap();
    let [rule] = grave.grant.as_slice() else {
        panic!("{:?}", grave.grant);
    };
    assert_eq!(
        (&rule.when, rule.quorum),
        (&When::Always, Quorum::People(2))
    );
    assert!(rule.not_self && rule.touch && !rule.pin);
    assert_eq!(
        rule.to_string(),
        "2 people of data, with a touched security key; security may veto"
    );
    // Only the policies whose file has rules have any.
    assert!(
        all.iter()
            .filter(|p| p.name != "grave")
            .all(|p| p.grant.is_empty())
    );
}

/// What a policy says as TOML means the same when it is read again.
#[test]
fn rules_add_up_and_what_is_shown_can_be_written_into_a_file() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "grave",
        &extending(
            "[[grant]]\nwhen = \"flagged\"\nquorum = 2\n[[grant]]\nwhen = [\"NETWORK_OUT\", \"EXEC\"]\n\
             quorum = \"all\"\nroles = [\"security\"]\npin = true\n",
        ),
    );
    write(
        dir.path(),
        "graver",
        "name = \"graver\"\nextends = \"grave\"\n[grant]\nroles = [\"data\"]\n",
    );
    let all = load(dir.path()).unwrap();
    let graver = all.iter().find(|p| p.name == "graver").unwrap();
    assert_eq!(graver.grant.len(), 3);
    assert_eq!(graver.grant[0].when, When::Verdict(VerdictKind::Flagged));
    assert_eq!(
        graver.grant[1].when,
        When::Capabilities([Capability::NetworkOut, Capability::Exec].into())
    );
    let text: String = graver.grant.iter().map(|rule| rule.as_toml()).collect();
    write(
        dir.path(),
        "again",
        &format!("name = \"again\"\nextends = \"analysis\"\n{text}"),
    );
    let all = load(dir.path()).unwrap();
    let again = all.iter().find(|p| p.name == "again").unwrap();
    assert_eq!(again.grant, graver.grant);
}

#[test]
fn a_rule_that_cannot_be_meant_is_refused_with_its_line() {
    for (grant, line, words) in [
        ("[grant]\nquorum = 0\n", 4, "from 1 to 16"),
        ("[grant]\nquorum = 17\n", 4, "from 1 to 16"),
        ("[grant]\nquorum = \"most\"\n", 4, "expected `all`"),
        ("[grant]\nquorum = 1.5\n", 4, "a number of people"),
        ("[grant]\nquorum = \"all\"\n", 4, "`all` needs `roles`"),
        ("[grant]\nquorum = 2\nnot_self = false\n", 5, "never counts"),
        (
            "[grant]\nwhen = \"blocked\"\n",
            4,
            "expected `flagged` or `clear`",
        ),
        ("[grant]\nwhen = []\n", 4, "never applies"),
        (
            "[grant]\nwhen = [\"NETWORK\"]\n",
            4,
            "did you mean `NETWORK_OUT`?",
        ),
        (
            "[grant]\nroles = [\"Data\"]\n",
            4,
            "`Data` is no name of a role",
        ),
        ("[grant]\nrole = [\"data\"]\n", 4, "did you mean `roles`?"),
        ("grant = 2\n", 3, "[grant]"),
        ("grant = []\n", 3, "asks nobody"),
    ] {
        let error = load_error("grave", &extending(grant));
        assert!(
            error.contains(words) && error.contains(&format!("grave.toml:{line}")),
            "{grant}: {error}"
        );
    }
    let many: String = (1..=33)
        .map(|n| format!("[[grant]]\nroles = [\"r{n}\"]\n"))
        .collect();
    let error = load_error("grave", &extending(&many));
    assert!(error.contains("at most 32 rules"), "{error}");
}
