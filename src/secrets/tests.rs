use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::*;

/// Made here so that no file of this repository holds one.
fn fake(prefix: &str, length: usize) -> String {
    let digits: String = (0..)
        .map(|n: u32| ["a7", "Kq", "x3", "Zm", "9B"][(n * 7 % 5) as usize])
        .take(length)
        .collect();
    format!("{prefix}{}", &digits[..length])
}

fn upper(prefix: &str, length: usize) -> String {
    fake(prefix, length)
        .to_uppercase()
        .replace(['9', '8', '0', '1'], "2")
}

fn found(secrets: &Secrets, text: &str) -> Vec<(String, String)> {
    let all = secrets.find(text).into_iter();
    all.map(|span| (span.kind.to_string(), text[span.at].to_owned()))
        .collect()
}

fn jwt() -> String {
    use base64::Engine as _;
    let encode = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let header = encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    format!(
        "{header}.{}.{}",
        encode(r#"{"sub":"1234567890"}"#),
        fake("", 43)
    )
}

fn pem(label: &str) -> String {
    let lines = format!(
        "{}\n{}\n{}==\n",
        fake("MIIE", 60),
        fake("", 64),
        fake("", 30)
    );
    format!("-----BEGIN {label}-----\n{lines}-----END {label}-----")
}

fn tokens() -> Vec<(&'static str, String)> {
    vec![
        ("aws-access-key", upper("AKIA", 16)),
        ("github-token", fake("ghp_", 36)),
        (
            "github-token",
            fake(&fake("github_pat_", 22).add_to('_'), 59),
        ),
        ("gitlab-token", fake("glpat-", 20)),
        ("slack-token", fake("xoxb-123456789012-", 24)),
        ("anthropic-key", fake("sk-ant-api03-", 95)),
        (
            "openai-key",
            fake(&fake("sk-proj-", 40).add_text("T3BlbkFJ"), 40),
        ),
        ("sk-key", fake("sk-", 48)),
        ("google-api-key", fake("AIza", 35)),
        ("google-oauth-secret", fake("GOCSPX-", 28)),
        ("stripe-key", fake("sk_live_", 24)),
        ("npm-token", fake("npm_", 36)),
        ("pypi-token", fake("pypi-AgEIcHlwaS5vcmc", 80)),
        ("huggingface-token", fake("hf_", 34)),
        ("sendgrid-key", fake(&fake("SG.", 22).add_to('.'), 43)),
        ("twilio-key", format!("SK{}", "0123456789abcdef".repeat(2))),
        ("azure-client-secret", fake("abc8Q~", 32)),
        ("jwt", jwt()),
        ("private-key", pem("RSA PRIVATE KEY")),
        (
            "private-key",
            pem("OPENSSH PRIVATE KEY").replace('\n', "\\n"),
        ),
    ]
}

trait Add {
    fn add_to(self, c: char) -> String;
    fn add_text(self, text: &str) -> String;
}

impl Add for String {
    fn add_to(mut self, c: char) -> String {
        self.push(c);
        self
    }
    fn add_text(mut self, text: &str) -> String {
        self.push_str(text);
        self
    }
}

#[test]
fn each_format_is_found_in_code_in_json_and_alone() {
    let secrets = Secrets::default();
    for (kind, token) in tokens() {
        let expected = [(kind.to_owned(), token.clone())];
        for text in [
            token.clone(),
            format!("x = '{token}'\n"),
            format!("call({token}, 1)"),
            format!(r#"{{"a":"{token}"}}"#),
            format!(r#"{{\"a\":\"{token}\"}}"#),
            format!("ü {token} ü"),
        ] {
            assert_eq!(found(&secrets, &text), expected, "{text}");
        }
    }
}

#[test]
fn tokens_that_say_what_they_are_are_found_behind_other_words() {
    let secrets = Secrets::default();
    let kinds = [
        "aws-access-key",
        "github-token",
        "gitlab-token",
        "slack-token",
        "anthropic-key",
        "google-api-key",
        "stripe-key",
        "npm-token",
        "pypi-token",
        "huggingface-token",
        "sendgrid-key",
        "jwt",
    ];
    for kind in kinds {
        let mut all = tokens().into_iter();
        let token = all.find(|(of, _)| *of == kind).unwrap().1;
        let expected = [(kind.to_owned(), token.clone())];
        assert_eq!(found(&secrets, &format!("report_{token} ")), expected);
    }
}

#[test]
fn each_of_many_in_a_row_is_found() {
    let secrets = Secrets::default();
    let all: Vec<String> = tokens().into_iter().map(|(_, token)| token).collect();
    for between in [" ", "\n", "\",\"", ","] {
        let text = all.join(between);
        let texts: Vec<String> = found(&secrets, &text).into_iter().map(|f| f.1).collect();
        assert_eq!(texts, all, "{between:?}");
    }
}

#[test]
fn what_a_name_calls_secret_is_found_with_its_value_alone() {
    let secrets = Secrets::default();
    for (text, kind, secret) in [
        (
            "password = \"correct-horse-battery\"",
            "password",
            "correct-horse-battery",
        ),
        (
            "db(user='x', password='Tr0ub4dor&33x')",
            "password",
            "Tr0ub4dor&33x",
        ),
        (
            r#"{"password": "correcthorsebattery"}"#,
            "password",
            "correcthorsebattery",
        ),
        (
            r#"{\"api_key\": \"q8Zt33kPw0aa12\"}"#,
            "secret",
            "q8Zt33kPw0aa12",
        ),
        ("client_secret='q8Zt33kPw0aa12'", "secret", "q8Zt33kPw0aa12"),
        ("API_TOKEN=q8Zt33kPw0aa12\nX=1", "secret", "q8Zt33kPw0aa12"),
        (
            "Authorization: Bearer q8Zt33kPw0aa12q8Zt33",
            "bearer-token",
            "q8Zt33kPw0aa12q8Zt33",
        ),
        (
            "postgres://me:hunter2@db.example.com/x",
            "url-password",
            "hunter2",
        ),
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY0123456789",
            "aws-secret-key",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCY0123456789",
        ),
    ] {
        assert_eq!(
            found(&secrets, text),
            [(kind.to_owned(), secret.to_owned())],
            "{text}"
        );
    }
}

#[test]
fn what_is_no_secret_stays() {
    let secrets = Secrets::of(
        [("HOST".to_owned(), "build-host-12.example.com".to_owned())],
        [],
    );
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    for text in [
        "018f3c5e-7a70-7cc2-98c4-dc0c0c07398f",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "df['customer_account_number_of_the_last_month']",
        "key_column = 'customer_account_number'",
        "token = \"customer_account_number_2\"",
        "sort_keys='total_revenue_by_region'",
        "3.14159265358979323846264338327950288",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        png,
        "/home/ana/projects/secrets/token/key.pem",
        "password = getpass.getpass('password for the data base: ')",
        "password = os.environ['DATABASE_PASSWORD_2']",
        "https://user@example.com/a:b@c",
        "http://localhost:8080/x?a=b@c",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "skip-this-one sk-fading-circle-of-the-loading-page-component",
        "ghp_short AKIA1 hf_x SK_1 npm_run_build_of_all_the_packages_here",
        "eyJhbGciOiJub25l.eyJ.x",
        "build-host-12.example.com",
        "SELECT token, count(*) FROM t GROUP BY token",
    ] {
        assert_eq!(found(&secrets, text), [], "{text}");
    }
}

/// Text behind a token does not hide it, and the token does not hide the text.
#[test]
fn as_much_of_a_token_as_its_format_has_is_replaced_and_what_follows_stays() {
    let secrets = Secrets::default();
    let fixed = [
        "aws-access-key",
        "github-token",
        "google-api-key",
        "google-oauth-secret",
        "npm-token",
        "sendgrid-key",
        "twilio-key",
    ];
    let all = tokens().into_iter();
    for (kind, token) in all.filter(|(kind, _)| fixed.contains(kind)) {
        let behind = if kind == "twilio-key" { "gh" } else { "Zq" };
        let kept = secrets
            .redact(&format!("{token}{behind} x"), &mut Counts::new())
            .into_owned();
        assert_eq!(kept, format!("[REDACTED:{kind}]{behind} x"));
    }
    for kind in [
        "stripe-key",
        "gitlab-token",
        "huggingface-token",
        "slack-token",
    ] {
        let mut all = tokens().into_iter();
        let token = all.find(|(of, _)| *of == kind).unwrap().1;
        let text = format!("{token}{} import os", "Q".repeat(300));
        let kept = secrets.redact(&text, &mut Counts::new()).into_owned();
        assert!(
            !kept.contains(&token[6..]) && kept.ends_with(" import os"),
            "{kept}"
        );
        // Only as much as the format has.
        assert!(kept.len() > 60, "{kept}");
    }
}

/// Code does not hide as a secret.
#[test]
fn nothing_that_is_no_secret_is_hidden() {
    let secrets = Secrets::default();
    for text in [
        upper("AKIA", 17).replace(|c: char| c.is_ascii_digit(), "A"),
        "EURASIANCOUNTRIESANDTERRITORIES".to_owned(),
        format!("password = '{}'", "a1".repeat(200)),
        "password = 'import os; os.system(1)'".to_owned(),
        "-----BEGIN PRIVATE KEY-----\nimport os; os.remove('x')\n-----END PRIVATE KEY-----"
            .to_owned(),
        format!(
            "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----",
            "AAAA\n".repeat(4_000)
        ),
        "task_test_configuration_of_sk_test_configuration".to_owned(),
    ] {
        assert_eq!(found(&secrets, &text), [], "{text}");
    }
}

/// No beginning of it stays, and no mark covers more than its bound.
#[test]
fn a_long_web_token_is_replaced_to_its_beginning() {
    let secrets = Secrets::default();
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let claims = format!(r#"{{"name":"{}"}}"#, "Ana López ".repeat(150));
    let token = format!(
        "{}.{}.{}",
        encode(r#"{"alg":"RS256"}"#),
        encode(&claims),
        fake("", 342)
    );
    let text = format!("a {token} b");
    assert!(secrets.find(&text).iter().all(|span| span.at.len() <= SPAN));
    let kept = secrets.redact(&text, &mut Counts::new()).into_owned();
    let mark = "[REDACTED:jwt]";
    assert_eq!(kept.replace(mark, ""), "a  b", "{kept}");
    // What is no claims is no token: code could hide in it.
    let code = token.replace(&encode(&claims), &encode("{\"import os"));
    assert_eq!(found(&secrets, &code), []);
}

#[test]
fn what_a_terminal_does_not_show_splits_no_secret() {
    let secrets = Secrets::of([("API_KEY".to_owned(), "zQ8pa-77wo0rD-x1y".to_owned())], []);
    let mut all = tokens();
    all.retain(|(kind, _)| !["private-key", "jwt"].contains(kind));
    all.push(("environment", "zQ8pa-77wo0rD-x1y".to_owned()));
    for (kind, token) in all {
        for between in [
            "\u{1b}[31m",
            "\u{1b}[0;38;5;9m",
            "\u{200b}",
            "\u{301}",
            "\u{ad}\u{feff}",
            "\0",
            "x\u{8}",
            "\u{202e}",
        ] {
            for every in [1, 3, 7] {
                let letters: Vec<char> = token.chars().collect();
                let split: Vec<String> = letters
                    .chunks(every)
                    .map(|part| part.iter().collect())
                    .collect();
                let text = format!("a {} b", split.join(between));
                let mut counts = Counts::new();
                let kept = secrets.redact(&text, &mut counts).into_owned();
                let left = kept
                    .replace(&format!("[REDACTED:{kind}]"), "")
                    .replace(between, "");
                assert_eq!(
                    left.trim_end_matches(['\u{301}']),
                    "a  b",
                    "{kind} {between:?} {every}: {kept:?}"
                );
            }
        }
    }
}

/// Bytes that are no part of a secret are replaced at most up to the bound.
#[test]
fn what_is_hidden_within_a_secret_is_bounded() {
    let secrets = Secrets::default();
    let token = fake("ghp_", 36);
    let long = format!("\u{1b}]0;{}\u{7}", "import os ".repeat(100));
    let text = format!("{}{long}{}", &token[..9], &token[9..]);
    let mark = "[REDACTED:github-token]";
    assert_eq!(
        secrets.redact(&text, &mut Counts::new()),
        format!("{mark}{long}{mark}")
    );
}

#[test]
fn values_without_quotes_are_found_and_names_in_code_are_not() {
    let secrets = Secrets::default();
    let random = "q8Zt33kPw0aa12";
    for (text, kind, secret) in [
        ("password=hunter2 user=x", "password", "hunter2"),
        ("Password: Tr0ub4dor&3", "password", "Tr0ub4dor&3"),
        ("?user=a&passwd=h%21nter2&x=1", "password", "h%21nter2"),
        (
            "PGPASSWORD=correcthorse psql -h db",
            "password",
            "correcthorse",
        ),
        ("mysql --password=s3cret! x", "password", "s3cret!"),
        ("mysql --password s3cret! x", "password", "s3cret!"),
        ("curl --api-token q8Zt33kPw0aa12", "secret", random),
        ("x-api-key: q8Zt33kPw0aa12", "secret", random),
        ("access_token=q8Zt33kPw0aa12&x=1", "secret", random),
        ("client_secret: q8Zt33kPw0aa12\n", "secret", random),
        ("env AWS=1 MY_TOKEN=q8Zt33kPw0aa12 run", "secret", random),
        (
            "Authorization: Basic YW5hOmh1bnRlcg==",
            "authorization",
            "YW5hOmh1bnRlcg==",
        ),
        (
            "'Authorization': 'Bearer abCdefgh'",
            "authorization",
            "abCdefgh",
        ),
        (
            "Authorization: token q8Zt33kPw0aa12",
            "authorization",
            random,
        ),
        (
            "Set-Cookie: sid=q8Zt33kPw0aa12; Path=/",
            "cookie",
            "sid=q8Zt33kPw0aa12; Path=/",
        ),
        (
            "postgres://me:h@nt@db.example.com/x",
            "url-password",
            "h@nt",
        ),
        (
            "https://q8Zt33kPw0aa12@github.com/a",
            "url-password",
            random,
        ),
    ] {
        assert_eq!(
            found(&secrets, text),
            [(kind.to_owned(), secret.to_owned())],
            "{text}"
        );
    }
    for text in [
        "connect(password=password, token=token)",
        "connect(password=pw, user=user)",
        "connect(password=config.db2.password)",
        "password: string",
        "password: float64",
        "password=None",
        "password = getpass.getpass()",
        "df.sort_values(key=lambda s: s.str.lower())",
        "sorted(rows, key=by_total_revenue2)",
        "DB_PASSWORD=$OTHER",
        "PWD=/home/ana",
        "max_tokens: 4096",
        "next_token = tokens[i + 1]",
        "plot --sort-key total_revenue",
        "authorization: required",
        "https://host:8080/a@b?x=y@z",
    ] {
        assert_eq!(found(&secrets, text), [], "{text}");
    }
}

#[test]
fn written_escapes_hide_no_secret() {
    let secrets = Secrets::of([("API_KEY".to_owned(), "zQ8pa-77wörd-x1y".to_owned())], []);
    for secret in ["zQ8pa-77wörd-x1y".to_owned(), fake("ghp_", 36)] {
        let bytes = |each: &dyn Fn(u8) -> String| secret.bytes().map(each).collect::<String>();
        let chars = |each: &dyn Fn(char) -> String| secret.chars().map(each).collect::<String>();
        for form in [
            bytes(&|b| format!("%{b:02X}")),
            bytes(&|b| format!("%{b:02x}")),
            bytes(&|b| format!("%25{b:02x}")),
            bytes(&|b| format!("\\x{b:02x}")),
            bytes(&|b| format!("\\{b:03o}")),
            chars(&|c| format!("\\u{:04x}", u32::from(c))),
            chars(&|c| format!("&#{};", u32::from(c))),
            chars(&|c| format!("\\u{{{:x}}}", u32::from(c))),
        ] {
            let kept = secrets
                .redact(&format!("<{form}>"), &mut Counts::new())
                .into_owned();
            let left = kept
                .replace("[REDACTED:environment]", "")
                .replace("[REDACTED:github-token]", "");
            assert_eq!(left, "<>", "{form}: {kept}");
        }
    }
}

#[test]
fn patterns_replace_parts_of_one_line_and_of_at_most_512_bytes() {
    let pattern = Pattern::new("staff", r"(?s)EMP.*END").unwrap();
    let secrets = Secrets::of([], [pattern]);
    let text = format!("a EMP{}\nb\n\nEND c", "ö".repeat(300));
    let kept = secrets.redact(&text, &mut Counts::new());
    let one = "[REDACTED:staff]";
    assert_eq!(kept, format!("a {one}{one}\n{one}\n\n{one} c"));
    assert!(secrets.find(&text).iter().all(|span| span.at.len() <= SPAN));
}

#[test]
fn what_was_replaced_is_not_replaced_again() {
    let secrets = Secrets::default();
    for (_, token) in tokens() {
        let text = format!("password = '{token}'\ntoken: '{token}'");
        let mut counts = Counts::new();
        let once = secrets.redact(&text, &mut counts).into_owned();
        assert!(!once.contains(&token));
        assert_eq!(secrets.redact(&once, &mut counts), once);
    }
}
