//! What calls are given as a secret: by its place among the arguments, behind the name of a setting, or as a default.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::super::ordinary::Words;
use super::super::scan;
use super::Place;
use super::judge::Written;
use super::literal::{elements, skip, strings};
use super::name::Meant;

/// Callables that take a secret at a place: a name, the argument counted from 0, what it is, and whether a word can be one.
const CALLS: [(&str, usize, Meant, Written); 56] = [
    ("login", 1, Meant::Password, Written::Quoted),
    ("log_in", 1, Meant::Password, Written::Quoted),
    ("sign_in", 1, Meant::Password, Written::Quoted),
    ("signin", 1, Meant::Password, Written::Quoted),
    ("authenticate", 1, Meant::Password, Written::Quoted),
    ("HTTPBasicAuth", 1, Meant::Password, Written::Quoted),
    ("HTTPDigestAuth", 1, Meant::Password, Written::Quoted),
    ("HTTPProxyAuth", 1, Meant::Password, Written::Quoted),
    ("HttpNtlmAuth", 1, Meant::Password, Written::Quoted),
    ("BasicAuth", 1, Meant::Password, Written::Quoted),
    ("DigestAuth", 1, Meant::Password, Written::Quoted),
    ("basic_auth", 1, Meant::Password, Written::Quoted),
    ("PlainCredentials", 1, Meant::Password, Written::Quoted),
    ("PlainTextAuthProvider", 1, Meant::Password, Written::Quoted),
    ("PasswordAuthenticator", 1, Meant::Password, Written::Quoted),
    ("createuser", 1, Meant::Password, Written::Listed),
    ("create_user", 1, Meant::Password, Written::Listed),
    ("create_user", 2, Meant::Password, Written::Listed),
    ("create_superuser", 2, Meant::Password, Written::Listed),
    ("add_user", 1, Meant::Password, Written::Listed),
    ("psycopg.connect", 2, Meant::Password, Written::Quoted),
    ("psycopg2.connect", 2, Meant::Password, Written::Quoted),
    ("pymysql.connect", 2, Meant::Password, Written::Quoted),
    ("MySQLdb.connect", 2, Meant::Password, Written::Quoted),
    ("connector.connect", 2, Meant::Password, Written::Quoted),
    ("oracledb.connect", 1, Meant::Password, Written::Quoted),
    ("cx_Oracle.connect", 1, Meant::Password, Written::Quoted),
    ("ssh.connect", 3, Meant::Password, Written::Quoted),
    ("client.connect", 3, Meant::Password, Written::Listed),
    ("Connection", 2, Meant::Password, Written::Listed),
    ("FTP", 2, Meant::Password, Written::Quoted),
    ("FTP_TLS", 2, Meant::Password, Written::Quoted),
    ("Redis", 3, Meant::Password, Written::Quoted),
    ("StrictRedis", 3, Meant::Password, Written::Quoted),
    ("Github", 0, Meant::Secret, Written::Quoted),
    ("Fernet", 0, Meant::Password, Written::Quoted),
    ("jwt.encode", 1, Meant::Password, Written::Quoted),
    ("jwt.decode", 1, Meant::Password, Written::Quoted),
    ("hmac.new", 0, Meant::Password, Written::Quoted),
    ("hmac.digest", 0, Meant::Password, Written::Quoted),
    ("AES.new", 0, Meant::Password, Written::Quoted),
    ("AESGCM", 0, Meant::Password, Written::Quoted),
    ("ChaCha20Poly1305", 0, Meant::Password, Written::Quoted),
    ("SecretBox", 0, Meant::Password, Written::Quoted),
    ("hashpw", 0, Meant::Password, Written::Quoted),
    ("checkpw", 0, Meant::Password, Written::Quoted),
    ("make_password", 0, Meant::Password, Written::Quoted),
    (
        "generate_password_hash",
        0,
        Meant::Password,
        Written::Quoted,
    ),
    ("check_password_hash", 1, Meant::Password, Written::Quoted),
    ("pbkdf2_hmac", 1, Meant::Password, Written::Quoted),
    ("hashlib.scrypt", 0, Meant::Password, Written::Quoted),
    ("URLSafeSerializer", 0, Meant::Password, Written::Quoted),
    (
        "URLSafeTimedSerializer",
        0,
        Meant::Password,
        Written::Quoted,
    ),
    ("TimestampSigner", 0, Meant::Password, Written::Quoted),
    ("AzureKeyCredential", 0, Meant::Secret, Written::Quoted),
    ("ClientSecretCredential", 2, Meant::Secret, Written::Quoted),
];

/// What gives a setting a value: `setattr(c, "password", "…")`.
static SETTERS: Words = Words::of(
    "setattr set setdefault put put_secret put_secret_value put_parameter setitem setenv putenv set_option set_secret set_value \
    set_key set_config add_secret create_secret write store update_secret hset define assign save __setitem__",
);

/// What takes a value for a setting that is not there: `getenv("TOKEN", "…")`.
static GETTERS: Words =
    Words::of("get getenv getattr pop env config str get_option get_secret get_str");

/// Arguments that are what a setting is without one.
const DEFAULTS: [&str; 7] = [
    "default=",
    "default =",
    "fallback=",
    "value=",
    "initial=",
    "const=",
    "default_factory=lambda:",
];

/// How far the end of a call is looked for, in bytes.
const FAR: usize = 300;

static NAMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let names = CALLS.iter().map(|(name, ..)| format!("{name}("));
    let mut builder = AhoCorasick::builder();
    let builder = builder.match_kind(MatchKind::Standard);
    builder.build(names).ok()
});

/// The secrets that stand at the places of their calls.
pub(super) fn find(text: &str, mut add: impl FnMut(Range<usize>, Meant)) {
    let Some(names) = &*NAMES else { return };
    scan::read(text.len());
    // Arguments are read once for all that is called so.
    let mut last = None;
    for found in names.find_overlapping_iter(text) {
        let Some((_, place, meant, written)) = CALLS.get(found.pattern().as_usize()) else {
            continue;
        };
        let before = text.as_bytes()[..found.start()].last();
        if before.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
            continue;
        }
        let (end, all) = match last {
            Some((end, all)) if end == found.end() => (end, all),
            _ => (found.end(), elements(text, found.end(), true).0),
        };
        if let Some(argument) = all.get(*place).filter(|one| !one.names) {
            let of = Place::alone(text, *meant);
            of.quoted(&argument.strings, *written, &mut |at| add(at, *meant));
        }
        last = Some((end, all));
    }
}

impl Place<'_> {
    /// The name of the call that the name is an argument of.
    fn callee(&self) -> &str {
        let length = scan::behind(self.text, self.at.start, FAR, |b| b != b'\n');
        let from = self.text.ceil_char_boundary(self.at.start - length);
        let before = self.text.get(from..self.at.start).unwrap_or_default();
        let mut depth = 0_u32;
        for (at, b) in before.bytes().enumerate().rev() {
            match b {
                b')' | b']' | b'}' => depth += 1,
                b'(' if depth == 0 => {
                    let is_part = |c: char| c.is_alphanumeric() || c == '_';
                    let name = before[..at].trim_end_matches(is_part).len();
                    return &before[name..at];
                }
                b'(' | b'[' | b'{' => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return "",
                },
                _ => {}
            }
        }
        ""
    }

    /// Behind the comma after a name in quotes: the value that a setter gives it, or the default of a getter.
    pub(super) fn set(&self, at: usize, add: &mut impl FnMut(Range<usize>)) {
        let callee = self.callee().to_lowercase();
        let setter = SETTERS.has(&callee);
        if !setter && !GETTERS.has(&callee) {
            return;
        }
        let written = if setter {
            Written::Quoted
        } else {
            Written::Listed
        };
        match strings(self.text, at, true) {
            Some((all, _)) => self.quoted(&all, written, add),
            None => self.default(at, add),
        }
    }

    /// `api_key = os.getenv("KEY", "…")`
    pub(super) fn fallback(&self, at: usize, callee: &str, add: &mut impl FnMut(Range<usize>)) {
        if !GETTERS.has(callee) {
            return;
        }
        let (all, _) = elements(self.text, at, true);
        if let [_, default] = all.as_slice()
            && !default.strings.is_empty()
        {
            self.quoted(&default.strings, Written::Listed, add);
        }
    }

    /// `def get_password(): return "…"`
    pub(super) fn returned(&self, add: &mut impl FnMut(Range<usize>)) {
        let body = scan::window(self.text, self.at.end, FAR);
        scan::read(body.len());
        let body = body.split("def ").next().unwrap_or_default();
        for (at, word) in body.match_indices("return ") {
            if let Some((all, _)) = strings(self.text, self.at.end + at + word.len(), false) {
                self.quoted(&all, Written::Listed, add);
            }
        }
    }

    /// `default="…"` among the arguments from here on.
    pub(super) fn default(&self, at: usize, add: &mut impl FnMut(Range<usize>)) {
        let rest = scan::window(self.text, at, FAR);
        scan::read(rest.len());
        let (mut depth, mut end) = (0_u32, rest.len());
        for (at, b) in rest.bytes().enumerate() {
            match b {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => {
                    end = at;
                    break;
                }
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
        }
        for word in DEFAULTS {
            let Some(found) = rest[..end].find(word) else {
                continue;
            };
            let value = skip(self.text, at + found + word.len(), true);
            if let Some((all, _)) = strings(self.text, value, true) {
                self.quoted(&all, Written::Quoted, add);
            }
        }
    }
}
