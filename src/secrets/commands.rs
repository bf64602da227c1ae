//! Passwords in the arguments of programs and in statements that are known for them.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::formats::is_no_template;
use super::scan;

/// How a program takes a password.
#[derive(Clone, Copy)]
enum Takes {
    /// `-p …`, `-p=…`
    Next(&'static str),
    /// `-p…`
    Attached(&'static str),
    /// `-u ana:…`
    User(&'static str),
    /// Behind so many words that are no flags.
    Place(usize),
}
use Takes::{Attached, Next, Place, User};

/// Programs and statements in small letters, and what they take.
const TABLE: [(&str, &[Takes]); 36] = [
    (
        "curl",
        &[User("-u"), User("--user"), User("--proxy-user"), User("-U")],
    ),
    ("wget", &[User("--auth"), Next("--http-passwd")]),
    ("http", &[User("-a"), User("--auth")]),
    ("https", &[User("-a"), User("--auth")]),
    ("sshpass", &[Next("-p"), Attached("-p")]),
    ("mysql", &[Attached("-p")]),
    ("mysqldump", &[Attached("-p")]),
    ("mysqladmin", &[Attached("-p")]),
    ("mariadb", &[Attached("-p")]),
    ("mongo", &[Next("-p")]),
    ("mongosh", &[Next("-p")]),
    ("mongodump", &[Next("-p")]),
    ("mongorestore", &[Next("-p")]),
    ("redis-cli", &[Next("-a"), Next("--pass")]),
    ("docker login", &[Next("-p")]),
    ("podman login", &[Next("-p")]),
    ("buildah login", &[Next("-p")]),
    ("skopeo login", &[Next("-p")]),
    ("helm registry login", &[Next("-p")]),
    ("az login", &[Next("-p")]),
    ("oc login", &[Next("-p")]),
    ("cf login", &[Next("-p")]),
    ("twine upload", &[Next("-p")]),
    ("sqlcmd", &[Next("-p"), Attached("-p")]),
    ("bcp", &[Next("-p"), Attached("-p")]),
    ("ldapsearch", &[Next("-w")]),
    ("7z", &[Attached("-p")]),
    ("unzip", &[Next("-p")]),
    ("zip", &[Next("-p")]),
    ("htpasswd", &[Place(2)]),
    ("rabbitmqctl add_user", &[Place(1)]),
    ("rabbitmqctl change_password", &[Place(1)]),
    ("net user", &[Place(1)]),
    ("net use", &[Place(2)]),
    ("openssl", &[Next("-k"), Attached("pass:")]),
    ("identified by", &[Place(0)]),
];

/// Most bytes of a command behind its name.
const COMMAND: usize = 300;

static PROGRAMS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let names = TABLE.iter().map(|(name, _)| name);
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).build(names).ok()
});

/// The passwords of a text's commands, in shells, in lists of arguments and in SQL.
pub(super) fn find(text: &str, mut add: impl FnMut(Range<usize>)) {
    let Some(programs) = &*PROGRAMS else { return };
    scan::read(text.len());
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"_-.:=".contains(b);
    for found in programs.find_overlapping_iter(text) {
        let bytes = text.as_bytes();
        let before = bytes[..found.start()].last().is_some_and(is_part);
        let behind = bytes.get(found.end()).is_some_and(is_part);
        let Some((_, takes)) = TABLE
            .get(found.pattern().as_usize())
            .filter(|_| !before && !behind)
        else {
            continue;
        };
        let mut words = Arguments {
            text,
            at: found.end(),
            end: text.len().min(found.end() + COMMAND),
        };
        let mut places = 0;
        while let Some(word) = words.next() {
            let said = &text[word.clone()];
            for one in *takes {
                let value = match one {
                    Next(flag) if said.eq_ignore_ascii_case(flag) => words.clone().next(),
                    User(flag) if said == *flag => {
                        words.clone().next().and_then(|value| user(text, value))
                    }
                    Next(flag) | User(flag)
                        if said.len() > flag.len() + 1
                            && said.starts_with(flag)
                            && said[flag.len()..].starts_with('=') =>
                    {
                        let value = word.start + flag.len() + 1..word.end;
                        match one {
                            User(_) => user(text, value),
                            _ => Some(value),
                        }
                    }
                    Attached(flag)
                        if said.len() > flag.len()
                            && said
                                .get(..flag.len())
                                .is_some_and(|begin| begin.eq_ignore_ascii_case(flag)) =>
                    {
                        Some(word.start + flag.len()..word.end)
                    }
                    Place(n) if *n == places && !said.starts_with('-') => Some(word.clone()),
                    _ => None,
                };
                if let Some(value) = value.filter(|value| is_password(&text[value.clone()])) {
                    add(value);
                }
            }
            places += usize::from(!said.starts_with('-'));
        }
    }
}

/// `ana:…`
fn user(text: &str, value: Range<usize>) -> Option<Range<usize>> {
    let colon = text[value.clone()].find(':')?;
    (colon > 0).then_some(value.start + colon + 1..value.end)
}

fn is_password(value: &str) -> bool {
    value.len() >= 4
        && value.len() <= 200
        && !value.bytes().all(|b| b.is_ascii_digit())
        && !value.starts_with(['-', '/', '$'])
        && is_no_template(value)
}

/// The words of a command up to the end of its line.
#[derive(Clone)]
struct Arguments<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl Iterator for Arguments<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let between = |b: u8| b" \t\"',[]()`".contains(&b);
        let most = self.end.saturating_sub(self.at);
        self.at += scan::ahead(self.text, self.at, most, between);
        let ends =
            |b: u8| between(b) && !b"()[]".contains(&b) || b"\n\r;|".contains(&b) || b == b')';
        let most = self.end.saturating_sub(self.at);
        let length = scan::ahead(self.text, self.at, most, |b| !ends(b));
        let word = self.at..self.at + length;
        self.at = word.end;
        // A word that is cut at the bound is none.
        let sound = length > 0 && (word.end < self.end || word.end == self.text.len());
        (sound && self.text.get(word.clone()).is_some()).then_some(word)
    }
}
