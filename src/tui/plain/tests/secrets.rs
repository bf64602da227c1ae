//! Secrets by ear.

use super::*;

#[test]
fn secrets_are_told_before_the_code_at_their_lines_and_on_the_sheet() {
    let mut v = Voice::new();
    v.b.propose(Making {
        brought: vec![("extra", "password = 'correct-horse-battery'\n".to_owned())],
        ..Making::clear("print(len(df))\ndb(password='correct-horse-battery')\n")
    });
    v.speak();
    v.wait(600);
    let code = v.keys(" ");
    v.wait(5_000);
    v.read();
    let sheet = v.ask();
    let told = "secrets: 1 in this code (1 password; line 2), 1 in the input `extra` (1 password; line 1): the log will \
                have [REDACTED:password]";
    assert!(plainly(&v.all).contains(told), "{}", v.all);
    assert!(v.all.contains("2, secret: db(password="), "{code}{}", v.all);
    assert!(sheet.contains("2 secrets"), "{sheet}");
}

/// Without the ends of the rows, which continue behind two points.
fn plainly(text: &str) -> String {
    text.replace("\n.. ", " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
