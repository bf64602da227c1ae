//! Values of the environment in what others make of them.

use super::*;

#[test]
fn values_of_the_environment_are_found_in_every_form() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let value = "zQ8/pa ss\"wörd+77";
    let secrets = Secrets::of(
        [
            variable("ANY", value),
            variable("DB_PASSWORD", "correcthorse"),
            variable("HOME", "/home/ana-lopez"),
            variable("PATH", "/usr/bin:/usr/local/bin"),
            variable("NUMBER", "1234567890"),
            variable("SHORT", "zQ8pass"),
            variable("TERM", "xterm-256color"),
            variable("MODE", "production"),
        ],
        [],
    );
    let hex: String = value.bytes().map(|b| format!("{b:02x}")).collect();
    let listed = |between: &str| {
        let all: Vec<String> = value.bytes().map(|b| format!("{b:02X}")).collect();
        all.join(between)
    };
    let spelled = |between: &str| {
        let all: Vec<String> = value.chars().map(String::from).collect();
        all.join(between)
    };
    let utf16: Vec<u8> = value.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let json = serde_json::to_string(value).unwrap();
    for form in [
        value.to_owned(),
        "correcthorse".to_owned(),
        json.trim_matches('"').to_owned(),
        hex.to_uppercase(),
        hex.to_uppercase().replace('A', "a"),
        hex,
        listed(":"),
        listed(" "),
        listed("-"),
        STANDARD.encode(&utf16),
        value.replace('ö', "o\u{308}"),
        STANDARD.encode(value),
        URL_SAFE.encode(value),
        STANDARD.encode("correcthorse"),
        "zQ8%2Fpa%20ss%22w%C3%B6rd%2B77".to_owned(),
        "zQ8%2Fpa+ss%22w%C3%B6rd%2B77".to_owned(),
        value.chars().rev().collect(),
        value.to_ascii_uppercase(),
        value.to_ascii_lowercase(),
        "zq8%2fpa%20ss%22w%c3%b6rd%2b77".to_owned(),
        spelled(" "),
        spelled("-"),
        spelled("', '"),
        // Of Python's `base64.b32encode`.
        "CORRECTHORSE".to_owned(),
        "MNXXE4TFMN2GQ33SONSQ".to_owned(),
    ] {
        let text = format!("<{form}>");
        let mut counts = Counts::new();
        assert_eq!(
            secrets.redact(&text, &mut counts),
            "<[REDACTED:environment]>",
            "{form}"
        );
        assert_eq!(counts, Counts::from([("environment".to_owned(), 1)]));
    }
    // Among other bytes, all digits that say something of it alone are replaced.
    for before in ["", "a", "ab", "abc"] {
        let text = STANDARD.encode(format!("{before}{value}xyz"));
        let kept = secrets.redact(&text, &mut Counts::new());
        assert!(
            kept.contains("[REDACTED:environment]") && kept.len() < 40,
            "{kept}"
        );
    }
    for plain in [
        "/home/ana-lopez",
        "/usr/local/bin",
        "1234567890",
        "zQ8pass",
        "xterm-256color",
        "production",
    ] {
        assert_eq!(secrets.find(plain), []);
    }
}

/// Also where it is printed alone.
#[test]
fn secrets_within_values_of_the_environment_are_found_alone() {
    let secrets = Secrets::of(
        [
            (
                "DATABASE_URL".to_owned(),
                "postgres://me:hunt3r-X-2@db.example.com/x".to_owned(),
            ),
            (
                "SERVICE".to_owned(),
                r#"{"private_key_id":"x","password":"Tr0ub4dor&33x"}"#.to_owned(),
            ),
        ],
        [],
    );
    let mark = "[REDACTED:environment]";
    let text = "the server has no hunt3r-X-2 and no Tr0ub4dor&33x";
    let kept = secrets.redact(text, &mut Counts::new());
    assert_eq!(kept, format!("the server has no {mark} and no {mark}"));
}

#[test]
fn values_of_groups_and_of_several_lines_are_found_part_by_part() {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let secrets = Secrets::of(
        [
            variable("SETTINGS", "host=db;pin=zQ8pa-77x;PASSWORD=correcthorse"),
            variable("DEPLOY_TOKENS", "zQ8-first-1x\r\nzQ8-second\r\n"),
            variable("OPTIONS", "a=1, key='zQ8pa 99'"),
        ],
        [],
    );
    for secret in ["zQ8pa-77x", "correcthorse", "zQ8-first-1x", "zQ8-second"] {
        let kept = secrets.redact(secret, &mut Counts::new());
        assert_eq!(kept, "[REDACTED:environment]", "{secret}");
    }
}

/// What every system has is in every output.
#[test]
fn values_that_say_where_something_runs_are_no_secrets() {
    let all = [
        ("HOME", "/root"),
        ("LANG", "C.UTF-8"),
        ("USER", "ana-4K2x-lopez"),
        ("HOSTNAME", "ip-10-0-0-7qX3z"),
        ("AUTHOR", "Ana Lopez"),
        ("KEYBOARD_LAYOUT", "german-nodeadkeys"),
        ("TOKENIZERS_PARALLELISM", "disabled"),
        ("GIT_COMMIT", "884367ba1c6d2d9c1f0f5e0c7a3b2d1e0f9a8b7c"),
        ("LS_COLORS", "rs=0:di=01;34:ln=01;36:*.tar=01;31x9Qz"),
        ("PS1", "zQ8pa-77wo0rD-x1y"),
        ("XDG_SESSION_ID", "zQ8pa-77wo0rD-x1y"),
        ("PASSENGER", "Hauptbahnhof"),
    ];
    for (name, value) in all {
        let secrets = Secrets::of([(name.to_owned(), value.to_owned())], []);
        assert_eq!(secrets.find(value), [], "{name}");
    }
}

/// What `str.upper`, `hex(ord(c))` and `ord(c)` make of a value.
#[test]
fn values_are_found_in_capitals_and_numbers_as_python_writes_them() {
    let value = "Straße-zQ8x77";
    let secrets = Secrets::of([("ANY".to_owned(), value.to_owned())], []);
    let points = |form: fn(u32) -> String, between: &str| {
        let all: Vec<String> = value.chars().map(|c| form(u32::from(c))).collect();
        all.join(between)
    };
    for form in [
        "STRASSE-ZQ8X77".to_owned(),
        format!("['{}']", points(|c| format!("{c:#x}"), "', '")),
        format!("[{}]", points(|c| format!("{c:#x}"), ", ")),
        format!("[{}]", points(|c| c.to_string(), ", ")),
        format!("['{}']", points(|c| c.to_string(), "', '")),
    ] {
        assert_eq!(secrets.find(&form).len(), 1, "{form}");
    }
}
