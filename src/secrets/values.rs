//! Values of environment variables, as they are and in encodings: one table of all that each value can become, searched once.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::ordinary::{Words, is_ordinary, is_path_or_number};
use super::views::seen;
use super::{ENVIRONMENT, SPAN, assign, formats, pieces};

/// Shorter values occur by chance.
const SHORTEST: usize = 8;
/// Longer values are not looked for letter by letter.
const SPELLED: usize = 128;
/// Shorter lines of a value of several lines are not looked for.
const SHORTEST_LINE: usize = 16;

/// Words in the names of variables whose values are secrets even if they are ordinary words.
static TELLING: Words = Words::of(
    "apikey auth authorization cookie cookies cred credential credentials creds dsn key keys pass passphrase passwd password \
    passwords passwort private psk pw pwd secret secrets token tokens",
);

/// Ends of such words: `PGPASSWORD`.
static ENDS: Words = Words::of("apikey pass passphrase passwd password passwort pwd secret token");

/// Variables that every system has, and whose values say where and how it runs.
static PUBLIC: Words = Words::of(
    "browser colorterm columns conda_default_env conda_prefix conda_prompt_modifier dbus_session_bus_address desktop_session \
    display editor gpg_agent_info histfile home host hostname hosttype infopath invocation_id journal_stream lang language \
    lessclose lessopen lines logname ls_colors machtype mail manpath memory_pressure_watch oldpwd ostype pager path \
    prompt_command ps1 ps2 pwd pythonpath session_manager shell shlvl ssh_agent_pid ssh_auth_sock ssh_client ssh_connection \
    ssh_tty temp term term_program term_program_version tmp tmpdir tz user username virtual_env virtual_env_prompt visual \
    wayland_display windowid windowpath xauthority xcursor_theme",
);

/// Last words of names whose values are no secrets: commits, versions, places.
static PUBLIC_ENDS: Words = Words::of("colors commit dir home locale path sha tag version");

/// What is looked for of an environment.
#[derive(Clone, Default)]
pub(super) struct Values {
    exact: Option<AhoCorasick>,
    /// In either case.
    digits: Option<AhoCorasick>,
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Values")
    }
}

impl Values {
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let (mut exact, mut digits) = (BTreeSet::new(), BTreeSet::new());
        for (name, value) in variables {
            for value in secrets(&name, &value) {
                for value in [value.clone(), seen(&value)] {
                    exact.extend(forms(&value));
                    digits.extend(hexadecimal(&value));
                    digits.extend(spelled(&value));
                }
            }
        }
        let search = |all: BTreeSet<String>, caseless| {
            let all: Vec<String> = all
                .into_iter()
                .filter(|form| form.len() >= SHORTEST)
                .collect();
            let mut builder = AhoCorasick::builder();
            let builder = builder
                .match_kind(MatchKind::LeftmostLongest)
                .ascii_case_insensitive(caseless);
            (!all.is_empty()).then(|| builder.build(all).ok()).flatten()
        };
        Self {
            exact: search(exact, false),
            digits: search(digits, true),
        }
    }

    pub fn find(&self, text: &str, add: &mut impl FnMut(Range<usize>, &Arc<str>)) {
        let mut kind = None;
        for all in [&self.exact, &self.digits].into_iter().flatten() {
            for one in all.find_iter(text) {
                // Only the start of a character begins a form, and only its end ends one.
                pieces(text, one.range(), |piece| {
                    add(piece, kind.get_or_insert_with(|| ENVIRONMENT.into()));
                });
            }
        }
    }
}

/// Whether a variable's name says that its value is a secret.
fn is_telling(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    !PUBLIC.has(&name) && words.any(|word| TELLING.has(word) || ENDS.ends(word))
}

/// Whether a variable's name says that its value is none.
fn is_public(name: &str) -> bool {
    let name = name.to_lowercase();
    let last = name.rsplit('_').next().unwrap_or_default();
    let folders = name.starts_with("xdg_") || name.starts_with("lc_");
    !is_telling(&name) && (PUBLIC.has(&name) || folders || PUBLIC_ENDS.has(last))
}

/// The parts of a value that are looked for: its lines, the values of a group (`A=x;B=y`), and what of it says itself that
/// it is a secret, as the password in an address.
fn secrets(name: &str, value: &str) -> Vec<String> {
    let (telling, public) = (is_telling(name), is_public(name));
    let shortest = match value.trim().contains(['\n', '\r']) && !telling {
        true => SHORTEST_LINE,
        false => SHORTEST,
    };
    let secret = |part: &str, telling: bool, shortest: usize| {
        part.chars().count() >= shortest
            && part.len() <= SPAN
            && !is_path_or_number(part)
            && (telling || !is_ordinary(part))
    };
    let mut all: Vec<String> = Vec::new();
    let lines = value.split(['\n', '\r']).map(str::trim);
    for line in lines.filter(|_| !public) {
        if secret(line, telling, shortest) {
            all.push(line.to_owned());
        }
        for part in line.split([';', ',', '&', '|', ' ', '\t']) {
            if let Some((name, part)) = part.split_once('=') {
                let part = part.trim_matches(['"', '\'']);
                if !is_public(name.trim()) && secret(part, is_telling(name), SHORTEST) {
                    all.push(part.to_owned());
                }
            }
        }
    }
    let mut within = |at: Range<usize>, _: &Arc<str>| {
        let part = value.get(at).unwrap_or_default();
        if part.chars().count() >= SHORTEST && part.lines().count() == 1 && !is_ordinary(part) {
            all.push(part.to_owned());
        }
    };
    formats::find(value, &mut within);
    assign::find(value, &mut within);
    all
}

/// A value as it is, in JSON, in base64 at each of the three places that it can have among other bytes (as UTF-16 too), and
/// percent-encoded.
fn forms(value: &str) -> Vec<String> {
    let bytes = value.as_bytes();
    let mut all = vec![value.to_owned()];
    let json = serde_json::to_string(value).unwrap_or_default();
    all.push(json.trim_matches('"').to_owned());
    for engine in [&STANDARD, &URL_SAFE] {
        for bytes in [bytes, &utf16(value)] {
            let whole = engine.encode(bytes);
            all.push(whole.trim_end_matches('=').to_owned());
            all.push(whole);
            for before in 0..3 {
                let mut shifted = vec![0; before];
                shifted.extend_from_slice(bytes);
                shifted.truncate(shifted.len() / 3 * 3);
                let text = engine.encode(shifted);
                // The first digits are shared with what stands before.
                let own = [0, 2, 3][before];
                all.push(text.get(own..).unwrap_or_default().to_owned());
            }
        }
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    for (space, slash) in [("%20", "%2F"), ("+", "%2F"), ("%20", "/")] {
        let encoded = |b: &u8| match b {
            b' ' => space.to_owned(),
            b'/' => slash.to_owned(),
            b if plain(*b) => char::from(*b).to_string(),
            b => format!("%{b:02X}"),
        };
        all.push(bytes.iter().map(encoded).collect());
    }
    all
}

fn utf16(value: &str) -> Vec<u8> {
    value.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A value in either case, backwards, in base32, percent-encoded, and letter by letter with signs between.
fn spelled(value: &str) -> Vec<String> {
    let letters: Vec<String> = value.chars().map(String::from).collect();
    let backwards: String = value.chars().rev().collect();
    let mut all = vec![value.to_owned(), backwards];
    // `ß` in capitals is `SS`.
    let capitals = value.to_uppercase();
    all.push(capitals.to_lowercase());
    all.push(capitals);
    all.extend((0..5).map(|before| base32(before, value.as_bytes())));
    // With the digit that its end fills up.
    let bits = value.len() * 8;
    let whole = base32(0, &[value.as_bytes(), &[0]].concat());
    all.push(whole.get(..bits.div_ceil(5)).unwrap_or_default().to_owned());
    let escaped = value.bytes().map(|b| match b.is_ascii_alphanumeric() {
        true => char::from(b).to_string(),
        false => format!("%{b:02x}"),
    });
    all.push(escaped.collect());
    if letters.len() <= SPELLED {
        let between = [
            " ", "  ", "-", "_", ".", ",", ", ", ":", "/", "|", "\t", "\n", "', '", "\", \"",
            "','", "\",\"", " - ",
        ];
        all.extend(between.map(|between| letters.join(between)));
        let numbers: Vec<String> = value.bytes().map(|b| b.to_string()).collect();
        let points: Vec<String> = value.chars().map(|c| u32::from(c).to_string()).collect();
        for numbers in [numbers, points] {
            let between = [", ", ",", " ", "\n", "', '", "\", \""];
            all.extend(between.map(|between| numbers.join(between)));
        }
        // `[hex(ord(c)) for c in …]`
        let points: Vec<String> = value
            .chars()
            .map(|c| format!("{:x}", u32::from(c)))
            .collect();
        let between = [", 0x", "', '0x", "\", \"0x", "\n0x", " 0x"];
        all.extend(between.map(|between| points.join(between)));
    }
    all
}

/// Base32 (RFC 4648) of bytes that stand behind this many others: all digits that say something of them alone.
fn base32(before: usize, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let all = std::iter::repeat_n(0, before).chain(bytes.iter().copied());
    let bits: Vec<u8> = all
        .flat_map(|byte| (0..8).rev().map(move |n| byte >> n & 1))
        .collect();
    let digits = bits.chunks_exact(5).map(|five| {
        let number = five
            .iter()
            .fold(0_usize, |sum, bit| sum * 2 + usize::from(*bit));
        char::from(DIGITS[number])
    });
    digits.skip((before * 8).div_ceil(5)).collect()
}

/// Hexadecimal digits, together and as they are listed.
fn hexadecimal(value: &str) -> Vec<String> {
    let listed = |bytes: &[u8], between: &str| {
        let digits: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
        digits.join(between)
    };
    let mut all = vec![listed(&utf16(value), "")];
    let between = ["", ":", " ", "-", ", 0x", ",0x"];
    all.extend(between.map(|between| listed(value.as_bytes(), between)));
    all
}
