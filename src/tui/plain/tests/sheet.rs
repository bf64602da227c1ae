//! The sheet by ear.

use super::*;

fn flagged() -> Making {
    Making {
        ttl_s: 1_800,
        ..Making::flagged()
    }
}

/// With many inputs.
fn long() -> Making {
    Making {
        ttl_s: 1_800,
        brought: (0..12)
            .map(|i| {
                let name: &'static str = format!("input_{i}").leak();
                (name, "a,b\n1,2\n".to_owned())
            })
            .collect(),
        ..Making::clear(CODE)
    }
}

#[test]
fn each_row_of_the_sheet_has_its_label() {
    let mut v = Voice::of(Making {
        brought: vec![("extra", "a,b\n1,2\n".to_owned())],
        ..flagged()
    });
    v.wait(600);
    v.keys(" ");
    // A key that comes at once: what stands before the code is not heard.
    v.read();
    let sheet = v.ask();
    for row in [
        "\nagent says: etl-bot: ",
        "\nfindings: 1 finding\nline 3 column 17, DYN003 ",
        "\ngiven: df, data set sales",
        "\ngiven: extra, csv the agent brought",
        "\nruns as: profile analysis",
        "\nnot stopped: warning: network\nnot stopped: warning: reading files\n",
        ", pid 4312, warning: agents share your uid\n",
        "\nin one: sha256 ",
    ] {
        assert!(sheet.contains(row), "{row:?}: {sheet}");
    }
}

#[test]
fn facts_that_were_heard_are_not_told_again_and_a_key_tells_them() {
    let mut v = Voice::of(flagged());
    v.wait(600);
    v.keys(" ");
    v.wait(5_000);
    v.read();
    let sheet = v.ask();
    assert!(
        sheet.contains(
            "\nREADS, WRITES, RETURNS, NEW, verdict, given and kernel as read before: runs, 1 finding: DYN003 line\n.. 3, 1 input; i tells all of it again\n"
        ),
        "{sheet}"
    );
    // One digest, and no uid a second time.
    assert!(
        sheet.contains("\nkernel says: warning: agents share your uid\nbinds: code, df, policy, ")
            && !sheet.contains("uid 1000"),
        "{sheet}"
    );
    assert!(!sheet.contains("READS sales"), "{sheet}");
    let mut whole = v.keys("i");
    for _ in 0..9 {
        whole.push_str(&v.wait(5_000));
        whole.push_str(&v.keys(" "));
    }
    for row in [
        "\nREADS",
        "\nline 3 column 17, ",
        "\n.. df, data set sales",
        "Type 4f1c",
    ] {
        assert!(whole.contains(row), "{row:?}: {whole}");
    }
}

#[test]
fn facts_that_were_not_heard_to_their_end_or_changed_are_told() {
    let told = |v: &mut Voice| {
        v.read();
        let sheet = v.ask();
        assert_ne!(
            sheet.contains("as read before"),
            sheet.contains("\nREADS sales"),
            "{sheet}"
        );
        sheet.contains("\nREADS sales")
    };
    // The next key came while they were read out.
    let mut v = Voice::of(Making::clear(&lines(30)));
    v.wait(600);
    v.keys(" ");
    v.wait(300);
    assert!(told(&mut v));
    // Another proposal was heard meanwhile: the facts of this one are still its own.
    let mut v = Voice::of(Making::clear(CODE));
    v.b.propose(Making::clear("print(df[\"a\"].sum())\n"));
    v.wait(600);
    v.read();
    v.keys("j");
    v.wait(600);
    v.read();
    v.keys("k");
    v.wait(2_500);
    let sheet = v.ask();
    assert!(sheet.contains("as read before"), "{sheet}");
    // The same code was denied meanwhile.
    let mut v = Voice::of(Making::clear(CODE));
    let other = v.b.propose(Making::clear(CODE));
    v.wait(600);
    v.read();
    v.b.deny(other, "no");
    let sheet = v.ask();
    assert!(sheet.contains("\nREADS sales"), "{sheet}{}", v.all);
}

#[test]
fn the_time_left_is_said_on_request_everywhere() {
    let mut v = Voice::of(flagged());
    v.wait(3_000);
    assert_eq!(v.keys("l"), "29 minutes left\n");
    for key in ["?", "3", "2", "1", "v"] {
        v.keys(key);
        assert_eq!(v.keys("l"), "29 minutes left\n", "{key}");
        v.key(KeyCode::Esc);
    }
    v.read();
    v.ask();
    assert_eq!(v.keys("l"), "29 minutes left\n");
    v.keys("4f");
    // What was typed before is said again behind it.
    assert!(v.keys("l").ends_with("29 minutes left\n4f"));
    v.keys("1c");
    v.wait(300);
    v.key(KeyCode::Enter);
    assert_eq!(grants(&v.b).len(), 1);
    v.b.carry_out();
    assert!(v.keys("l").contains("already granted"));
}

#[test]
fn the_sheet_warns_at_a_minute_and_at_ten_seconds() {
    let mut v = Voice::of(Making {
        ttl_s: 1_800,
        ..Making::clear(CODE)
    });
    v.wait(600);
    v.read();
    v.ask();
    let mut said = Vec::new();
    for _ in 0..1_800 {
        v.b.tick(1_000);
        said.push(v.speak());
    }
    let at = |text: &str| said.iter().filter(|s| s.contains(text)).count();
    assert_eq!(at("Only 60 seconds left") + at("Only 59 seconds left"), 1);
    assert_eq!(at("Only 10 seconds left") + at("Only 9 seconds left"), 1);
    assert_eq!(at("Only "), 2);
}

#[test]
fn the_question_is_asked_again_after_wrong_digits() {
    let mut v = Voice::of(flagged());
    v.wait(600);
    v.read();
    v.ask();
    for _ in 0..3 {
        v.keys("1234");
        v.wait(300);
        let said = v.key(KeyCode::Enter);
        assert!(
            said.ends_with("wrong characters, nothing granted\nType 4f1c, that is 4 f 1 c, then Enter, to grant; Esc goes back and decides nothing.\n"),
            "{said}"
        );
    }
    v.keys("4f1c");
    v.wait(300);
    v.key(KeyCode::Enter);
    assert_eq!(grants(&v.b).len(), 1);
}

#[test]
fn rows_of_a_sheet_that_were_left_out_are_named_and_the_question_follows_them() {
    let mut v = Voice::of(long());
    v.wait(600);
    // What stands before the code is not heard to its end, so the sheet has all of it.
    v.keys(" ");
    v.wait(100);
    v.keys(" ");
    v.read();
    v.wait(2_500);
    v.keys("a");
    let mut said = String::new();
    while !said.contains("of this sheet not seen; Space goes there") {
        v.wait(300);
        said = v.keys(" ");
        assert!(!said.is_empty() && !said.contains("Press y"), "{}", v.all);
    }
    v.wait(5_000);
    // A key that decides nothing yet says what is missing.
    assert!(
        v.keys("y")
            .contains("of this sheet not seen; Space goes there")
    );
    assert!(grants(&v.b).is_empty());
    for _ in 0..9 {
        v.keys(" ");
        if v.wait(5_000).contains("Press y to grant") {
            v.keys("y");
            assert_eq!(grants(&v.b).len(), 1);
            return;
        }
    }
    panic!("{}", v.all);
}

#[test]
fn a_key_before_the_question_says_that_it_follows() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(600);
    v.read();
    v.wait(2_500);
    v.keys("a");
    v.wait(600);
    let said = v.keys("y") + &v.wait(5_000);
    let (wait, question) = (said.find("Wait for the question"), said.find("Press y"));
    assert!(wait.is_some() && wait < question, "{said}");
    assert!(!said.contains("not seen"), "{said}");
}
