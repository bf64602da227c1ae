//! The search reads in proportion to a text, whatever the text is.

use super::{Secrets, scan};

/// Parts that, repeated, begin much and end nothing.
pub(super) const HOSTILE: &[&str] = &[
    "a",
    "\"",
    "\\\"",
    "password",
    "password ",
    "password=",
    "password = \"",
    "password=(",
    "password=f(",
    "passwords = [\"a\", ",
    "password, a, b = ",
    "password: |\n  ",
    "password:\n a",
    "password #",
    "password=#",
    "password is ",
    "x:password ",
    "pw\n",
    "token=",
    "auth=",
    "auth=(",
    "setattr(c, \"password\", ",
    "login(\"a\", ",
    "<password>",
    "<a:password>",
    "\"x\" == password",
    "user,password\n",
    "a  password\n",
    "| password |\n",
    "INSERT INTO t (password) VALUES (",
    "QkJDQUFBQUZnSGpLbE1u",
    "MII",
    "MIIEa7KqxZ3m9BtRa7KqxZ3m9BtRa7KqxZ3m9BtRa7KqxZ3m9BtRa7KqxZ3m9Bt\n",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCA ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\nMIIEa7KqxZ3m9Bt\n",
    "-----END PRIVATE KEY-----",
    "curl -u a",
    "mysql -p",
    "docker login ",
    "http://a:",
    "eyJhbGciOiJIUzI1NiJ9.",
    "AKIAA7KQX3ZM2BA7KQX3 ",
    "%25",
    "&#",
    "\\u{",
    "\u{1b}[31m",
    "\u{1b}[",
    "\u{1b}]",
    "\u{9b}",
    "\u{9d}",
    "cookie: a=b; ",
    "machine password ",
    "\" \"",
    "\n",
];

#[test]
fn twice_the_text_takes_twice_the_steps() {
    const BYTES: usize = 24_000;
    let secrets = Secrets::default();
    let steps = |part: &str, bytes: usize| {
        let text = part.repeat(bytes / part.len());
        scan::steps(|| drop(secrets.find(&text)))
    };
    for part in HOSTILE {
        let (one, two) = (steps(part, BYTES), steps(part, 2 * BYTES));
        assert!(two * 10 <= one * 22, "{part:?}: {one}, {two}");
        // No word makes the search read far more than its own length.
        assert!(one <= 400 * BYTES as u64, "{part:?}: {one}");
    }
}
