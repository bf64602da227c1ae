//! Whether what a name is given is a secret, or a word, a name or a call that only stands there.

use super::super::ordinary::{Words, is_ordinary, strange};
use super::super::scan;
use super::name::{Meant, Name, begins_telling, is_name};

/// How a value stands in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Quoted,
    /// In quotes, in a list or as one of several arguments.
    Listed,
    Bare(Bare),
}

/// What is known of a value without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bare {
    /// Directly behind a `=`.
    pub tight: bool,
    /// Behind `--password`.
    pub flag: bool,
    /// A comma or a bracket follows, as in code.
    pub argument: bool,
}

/// Longest value, in bytes.
pub(super) const LONGEST: usize = 256;
/// Fewest letters of a password; fewer are a mark for one.
const PASSWORD: usize = 4;
/// Fewest letters of a password that stands behind a blank without quotes.
const PROSE: usize = 6;
/// Fewest letters of a token or key.
const SECRET: usize = 10;
const BARE_SECRET: usize = 12;

/// What stands where a password would, and is none. In lower case.
static WORDS: Words = Words::of(
    "abgelaufen active always anmeldung argon2 argon2id array auto bad base64 basic bcrypt bearer benutzer \
    benutzername bigint bool boolean bytes category change-me change_me changed changeit changeme char char1 \
    column compromised correct count credential credentials date datetime datetime64 default demo digest \
    disabled drop dropped dtype dtypes dummy empty enabled encrypted es256 example example1 expired falsch false \
    fehlt field first fixme float float32 float64 foobar foreign geheim good gültig hash hashed hidden high \
    hs256 sha-1 sha-256 sha-384 sha-512 aes-128 aes-256 qpsk bpsk dpsk dqpsk oqpsk 8psk inactive index input insert-here int int32 int64 integer internal invalid ja kennwort kennwörter key \
    label last latin-1 latin1 leaked leer list long low mandatory mask masked max md5 mean median medium min \
    missing mode name nan nein never no none null number numeric nunique nvarchar oauth oauth2 object off ok on \
    optional pass passcode passphrase passphrases passwd password password1 passwort passwörter pbkdf2 \
    placeholder plain primary private prompt public pwd redacted removed replace-me replace_me replaceme \
    required reset richtig rs256 sample samples scrypt secret sensitive sha1 sha256 sha512 short size skip \
    smallint std str string strong sum tbd test testing text timestamp todo token tokens true type unbekannt \
    unchanged undefined ungültig unknown unset user username utf-8 utf8 uuid uuid4 valid value values var \
    varchar varchar2 very_strong very_weak weak word words wrong xxxx yes your-password your-token your_password \
    your_token yourpassword yyyy",
);

/// Words of sentences about passwords.
static SENTENCE: Words = Words::of(
    "a an and are at be by can column do does enter for from has if in is must not of or please the to too with \
    your",
);

/// Whether a value of this name is a secret.
pub(super) fn is_secret(name: &Name, written: Written, value: &str) -> bool {
    scan::read(value.len().min(LONGEST));
    if value.len() > LONGEST || value.contains(['\n', '\r', '\0']) || stands_for_another(value) {
        return false;
    }
    let letters = value.chars().count();
    let strong = value.contains(|c: char| !c.is_alphabetic() && c != '_' && c != ' ');
    let bare = match written {
        Written::Bare(bare) => Some(bare),
        _ => None,
    };
    let is_name = bare.is_some_and(|bare| match bare.tight && name.capitals {
        true => value.contains('.') && is_expression(value),
        false if bare.flag => false,
        false => is_expression(value) || begins_telling(value) && is_identifier(value),
    });
    if is_name {
        return false;
    }
    let fits = match name.meant {
        Meant::Password if !name.more && !name.many => match written {
            Written::Bare(bare) if bare.tight => letters >= PASSWORD,
            Written::Bare(_) => letters >= PROSE,
            Written::Quoted => letters >= PASSWORD,
            Written::Listed => letters >= PASSWORD && strong,
        },
        // `pass = "v2"`, `password_hash = …`, `passwords = ["weak", …]`.
        Meant::Password | Meant::Pass => letters >= PROSE && strong && !is_ordinary_column(value),
        Meant::Pair => letters >= SECRET && is_random(value),
        Meant::Secret => {
            let least = if bare.is_some() { BARE_SECRET } else { SECRET };
            letters >= least && is_random(value) && !value.contains(' ')
        }
        Meant::Authorization => {
            letters >= 8 && !value.contains(' ') && (strong || has_capitals(value))
        }
    };
    fits && (!value.contains(' ') || is_passphrase(value))
}

fn has_capitals(value: &str) -> bool {
    value.contains(|c: char| c.is_ascii_uppercase())
}

/// Letters and digits, or letters in the case of no word, of which a third or more belongs to no word.
pub(in super::super) fn is_random(text: &str) -> bool {
    if is_date(text) || is_id(text) {
        return false;
    }
    let mixed = text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic());
    let parts = text.split(|c: char| !c.is_alphanumeric());
    let (all, strange) = parts.fold((0, 0), |(all, strange_), part| {
        (all + part.len(), strange_ + strange(part))
    });
    if mixed {
        return strange * 3 > all;
    }
    // Base64 without a digit: `QkJDQUFBQUZnSGpL`; words of names are longer.
    let bytes = text.as_bytes();
    let turns = bytes
        .windows(2)
        .filter(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    text.len() >= 16 && (turns.count() + 1) * 4 > text.len()
}

/// Names of columns, such as `customer_2024`.
fn is_ordinary_column(text: &str) -> bool {
    text.contains('_') && is_ordinary(text)
}

/// Digits and what stands between those of dates and times.
fn is_date(text: &str) -> bool {
    let between = text.chars().filter(|c| "-:/".contains(*c)).count();
    between >= 2
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || "-:/.+ TZ".contains(c))
}

/// Paths, addresses, variables, templates, marks of what was taken out, and the usual words.
pub(in super::super) fn stands_for_another(value: &str) -> bool {
    let word = value.to_ascii_lowercase();
    value.starts_with("[REDACTED")
        || value.starts_with(['-'])
        || WORDS.has(&word)
        || value.contains("://")
        || is_path(value)
        || is_variable(value)
        || is_template(value)
        || is_date(value)
        || is_name(value)
        || is_call(value)
        || value.chars().all(|c| !c.is_alphanumeric())
        || is_one_letter(value)
        || is_rule(&word)
        || is_reference(&word)
}

/// `min8zeichen`, `max64chars`
fn is_rule(word: &str) -> bool {
    let rest = ["min", "max", "mind"]
        .iter()
        .find_map(|begin| word.strip_prefix(begin));
    rest.is_some_and(|rest| {
        let what = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        what.len() < rest.len()
            && ["zeichen", "char", "letter", "stellen", "digit"]
                .iter()
                .any(|unit| what.starts_with(unit))
    })
}

/// `vault:secret/data/db#pw1`: where it is kept.
fn is_reference(word: &str) -> bool {
    ["vault:", "ssm:", "arn:", "op:", "keyring:", "env:", "file:"]
        .iter()
        .any(|begin| {
            word.strip_prefix(begin)
                .is_some_and(|rest| rest.contains(['/', ':']))
        })
}

/// Numbers of papers, genes and shares: `10.1038/s41586`, `ENSG00000157764`, `US0378331005`.
fn is_id(text: &str) -> bool {
    let doi = text
        .strip_prefix("10.")
        .and_then(|rest| rest.split_once('/'));
    if doi
        .is_some_and(|(number, _)| number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit()))
    {
        return true;
    }
    let digits = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = text.len() - digits.len();
    (1..=6).contains(&letters) && digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Ends of names of files.
static FILES: Words = Words::of(
    "avro bin cfg conf crt csv db env feather gz h5 html ini ipynb joblib jpg json jsonl jwk key log md model npy npz onnx \
    ovpn p12 parquet pdf pem pfx pickle pkl png properties pt pub py sqlite sql svg toml tsv txt xls xlsx xml yaml yml zip",
);

/// Paths, and names of files that are made of words.
fn is_path(value: &str) -> bool {
    let rooted = ["./", "../", "~/", "\\\\", "%APPDATA%", "$HOME"];
    let drive = matches!(value.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let file = value.rsplit_once('.').is_some_and(|(stem, end)| {
        FILES.has(&end.to_ascii_lowercase()) && !stem.is_empty() && is_ordinary(stem)
    });
    drive
        || file
        || rooted.iter().any(|root| value.starts_with(root))
        || value.starts_with('/') && is_ordinary(value)
        || is_relative(value)
}

/// `src/main2`: words between slashes.
fn is_relative(value: &str) -> bool {
    let is_part = |part: &str| {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        part.len() >= 3 && digits < 3 && is_ordinary(part) && part.starts_with(char::is_lowercase)
    };
    value.contains('/') && value.split('/').all(is_part)
}

/// `xxxxxxxx`, `xxxxxxxx1`
fn is_one_letter(value: &str) -> bool {
    let word = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let word = if value.len() - word.len() < 3 && word.len() >= 6 {
        word
    } else {
        value
    };
    let mut letters = word.chars();
    let first = letters.next();
    first.is_some_and(char::is_alphabetic) && letters.all(|c| Some(c) == first)
}

/// `$NAME`, `${NAME}`, `$(cat file)`, `%NAME%`
fn is_variable(value: &str) -> bool {
    let Some(name) = value.strip_prefix('$') else {
        let inner = value
            .strip_prefix('%')
            .and_then(|rest| rest.strip_suffix('%'));
        return inner.is_some_and(is_identifier);
    };
    let one_case = |is: fn(&char) -> bool| name.chars().all(|c| is(&c) || c == '_');
    name.starts_with(['{', '('])
        || one_case(char::is_ascii_lowercase)
        || name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether only what will be put in makes it a value: `{password}`, `%s`, `<token>`.
fn is_template(value: &str) -> bool {
    let mut depth = 0_u32;
    let mut own = 0;
    let mut any = false;
    let mut last = ' ';
    for c in value.chars() {
        match c {
            '{' | '<' => depth += 1,
            '}' | '>' if depth > 0 => {
                depth -= 1;
                any = true;
            }
            's' | 'd' | 'r' if last == '%' => any = true,
            _ if depth == 0 && c.is_alphanumeric() => own += 1,
            _ => {}
        }
        last = c;
    }
    any && own < 4
}

/// A call in code: code could hide as a secret.
fn is_call(value: &str) -> bool {
    let Some((name, rest)) = value.split_once('(') else {
        return false;
    };
    rest.contains(')')
        && name.len() > 2
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.".contains(c))
}

/// Words that belong to no sentence.
fn is_passphrase(value: &str) -> bool {
    let sound = |c: char| c.is_alphanumeric() || " -'_".contains(c);
    let mut words = value.split(' ');
    value.len() <= 80
        && value.chars().all(sound)
        && words.all(|word| !word.is_empty() && !SENTENCE.has(&word.to_lowercase()))
}

pub(super) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    let begins = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    begins && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Names, calls and attributes in code, and types of columns.
fn is_expression(text: &str) -> bool {
    let is_name = text.split('.').all(is_identifier);
    let digits = text.contains(|c: char| c.is_ascii_digit());
    let kinds = [
        "int",
        "uint",
        "float",
        "complex",
        "datetime",
        "timedelta",
        "string",
    ];
    let is_type = kinds.iter().any(|kind| {
        let bits = text.strip_prefix(kind);
        bits.is_some_and(|bits| bits.parse::<u16>().is_ok())
    });
    is_name && (!digits || text.contains('.')) || is_type
}
