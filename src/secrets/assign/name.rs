//! What a name says of its value.

use super::super::ordinary::Words;

/// Longest name, in bytes to each side of the word that tells.
pub(super) const LONGEST: usize = 64;

/// What is looked for: parts of names that may tell. In lower case.
pub(super) const TELLING: [&str; 26] = [
    "pass",
    "pw",
    "secret",
    "token",
    "key",
    "bearer",
    "jwt",
    "cred",
    "auth",
    "kennwort",
    "pswd",
    "psk",
    "wachtwoord",
    "senha",
    "contrase",
    "salasana",
    "adgangskode",
    "senord",
    "haslo",
    "hasło",
    "heslo",
    "парол",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
];

/// What a name calls its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// A password: words too.
    Password,
    /// `pass` and `pw`, which mean other things as well.
    Pass,
    /// A token or key: what nobody would type.
    Secret,
    /// What a header `Authorization` has.
    Authorization,
    /// A name and a password in brackets: `auth=("ana", …)`.
    Pair,
}

/// A name that tells.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub meant: Meant,
    /// Other words follow the one that tells: only what is surely no word is a secret then.
    pub more: bool,
    /// It stands for several values.
    pub many: bool,
    /// In capitals, as variables of an environment are.
    pub capitals: bool,
    /// It begins with a verb, such as `set_password`.
    pub sets: bool,
}

/// Ends of words that mean a password.
static PASSWORDS: Words = Words::of(
    "adgangskode contrasena contraseña haslo hasło heslo kennwort losenord lösenord motdepasse passcode passphrase passwd password \
    passwort passwrd psk pswd pwd salasana senha sshpass wachtwoord пароль 密码 密碼 パスワード 비밀번호",
);

/// Ends of words that mean a token or key.
static SECRETS: Words = Words::of(
    "accesskey accountkey apikey authkey bearer credential encryptionkey jwt masterkey privatekey secret secretkey signingkey \
    token",
);

/// Words before `key` that make it a secret one.
static KEYS: Words = Words::of(
    "access account admin aes anon anthropic api app application auth aws azure cipher client consumer cookie crypto csrf dec decryption deploy enc encrypt \
    encryption fernet gcp gemini github gitlab google groq hf hmac huggingface jwt kaggle license maps master mistral nasa \
    openai pinecone preshared private psk rapidapi replicate root rsa secret sendgrid service shared sign signing ssh storage \
    stripe subscription symmetric tavily telegram twilio wandb weather webhook",
);

/// Words before `pass` and `pw`.
static USERS: Words = Words::of(
    "admin app database db email ftp http imap ldap login mail my mysql pg proxy redis root service sftp smtp sql ssh \
    user",
);

/// Words behind the one that tells which change nothing.
static SAME: Words = Words::of(
    "b64 backup base base64 current data default dev encoded here live local main new old plain primary prod \
    production raw secondary staging str test val value",
);

/// Words behind it which name something else: a column, a length, a place.
static OTHER: Words = Words::of(
    "age alg algorithm arg at attempts bucket budget button by chars class col cols column columns complexity cost \
    count counts date dir enabled endpoint env error errors expired expires expiry expression field fields file \
    filename files flag folder format func function generator header help hint id ids idx index info kind label \
    labels len length limit limits list location manager map mapping max message min mode msg name names num \
    option param parameter path pattern placeholder policy prefix price prompt property rate regex required reset \
    ring rotation scheme scope score size store strategy strength suffix table title ttl type types uri url usage \
    variable state status quality score source change changed updated date days length entropy share changes feld spalte status \
    datum anzahl fehler hinweis regel richtlinie laenge länge liste tabelle",
);

/// First words that ask something of a password, or say what becomes of it.
static VERBS: Words = Words::of(
    "allow ask check count enable fetch find forgot generate get has hide is load make max min missing n needs no \
    num prompt read require required resolve show use validate verify with without",
);

/// First words of what is called with a password.
static SETS: Words = Words::of("add change put set update with");

/// The words of a name in small letters, without digits behind them.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()) {
        let bytes = part.as_bytes();
        let mut from = 0;
        for at in 1..bytes.len() {
            let (before, here) = (bytes[at - 1], bytes[at]);
            let next_is_small = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            // `dbPassword`, and `APIKey`.
            let begins = here.is_ascii_uppercase()
                && (!before.is_ascii_uppercase() || next_is_small && before.is_ascii_uppercase());
            if begins {
                all.push(part[from..at].to_lowercase());
                from = at;
            }
        }
        all.push(part[from..].to_lowercase());
    }
    for word in &mut all {
        let length = word.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if length > 0 {
            word.truncate(length);
        }
    }
    all.retain(|word| !word.is_empty());
    all
}

/// What the word at this place of a name means, and whether it is in the plural.
fn meant(words: &[String], at: usize) -> Option<(Meant, bool)> {
    let word = words.get(at)?.as_str();
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    let after = |all: &Words| before.is_some_and(|before| all.has(before));
    let one = word.strip_suffix('s').filter(|one| !one.ends_with('s'));
    for (word, many) in [(word, false), (one.unwrap_or_default(), true)] {
        let ends = |all: &Words| all.ends(word);
        let found = match word {
            "" => None,
            _ if ends(&PASSWORDS) => Some(Meant::Password),
            // `mot_de_passe`
            "passe" if before.is_some_and(|before| before == "de") => Some(Meant::Password),
            "pass" | "pw" if after(&USERS) => Some(Meant::Password),
            "pass" | "passe" | "pw" | "psw" if before.is_none() => Some(Meant::Pass),
            // `dbpass`
            _ if [word.strip_suffix("pass"), word.strip_suffix("pw")]
                .into_iter()
                .flatten()
                .any(|user| USERS.has(user)) =>
            {
                Some(Meant::Password)
            }
            "authorization" => Some(Meant::Authorization),
            "basicauth" => Some(Meant::Pair),
            "auth" | "cred" => Some(Meant::Pair),
            "key" if after(&KEYS) => Some(Meant::Secret),
            _ if ends(&SECRETS) => Some(Meant::Secret),
            _ => None,
        };
        if let Some(meant) = found {
            return Some((meant, many));
        }
    }
    None
}

/// Whether a text is the name of something that holds a secret rather than one: `user_password`.
pub(super) fn is_name(text: &str) -> bool {
    let sound = |c: char| c.is_alphabetic() || "_-.".contains(c);
    let words = words(text);
    text.chars().all(sound)
        && words.len() > 1
        && (0..words.len()).any(|at| meant(&words, at).is_some())
}

/// Whether a name begins as those of secrets do.
pub(super) fn begins_telling(name: &str) -> bool {
    let words = words(name);
    meant(&words, 0).is_some()
        || words
            .first()
            .is_some_and(|w| ["pw", "pass", "key", "cred"].contains(&w.as_str()))
}

impl Name {
    /// `None` if nothing in it means a secret.
    pub fn of(name: &str) -> Option<Self> {
        let telling = |words: &[String]| {
            (0..words.len())
                .rev()
                .find_map(|at| Some((at, meant(words, at)?)))
        };
        let mut words = words(name.rsplit('.').next().unwrap_or(name));
        if telling(&words).is_none() {
            words = self::words(name);
        }
        let (at, (meant, many)) = telling(&words)?;
        let behind = words.get(at + 1..).unwrap_or_default();
        let any = |all: &Words| behind.iter().any(|word| all.has(word));
        let first = words.first().map(String::as_str).unwrap_or_default();
        let sets = at > 0 && words.get(at - 1).is_some_and(|word| SETS.has(word));
        if any(&OTHER) || at > 0 && !sets && VERBS.has(first) {
            return None;
        }
        Some(Self {
            meant,
            more: !behind.iter().all(|word| SAME.has(word)),
            many,
            capitals: !name.bytes().any(|b| b.is_ascii_lowercase()),
            sets,
        })
    }
}

#[cfg(test)]
#[test]
fn names_are_split_and_understood() {
    assert_eq!(
        words("x-APIKey2.dbPassword_OLD"),
        ["x", "api", "key", "db", "password", "old"]
    );
    for (name, meant) in [
        ("PGPASSWORD", Meant::Password),
        ("spring.datasource.password", Meant::Password),
        ("dbPwd2", Meant::Password),
        ("smtp_pass", Meant::Password),
        ("pw", Meant::Pass),
        ("dbpass", Meant::Password),
        ("motDePasse", Meant::Password),
        ("contraseña2", Meant::Password),
        ("我的密码", Meant::Password),
        ("AWS_SECRET_ACCESS_KEY", Meant::Secret),
        ("x-api-key", Meant::Secret),
        ("clientSecret", Meant::Secret),
        ("proxy-authorization", Meant::Authorization),
        ("HTTPBasicAuth", Meant::Pair),
    ] {
        assert_eq!(Name::of(name).map(|name| name.meant), Some(meant), "{name}");
    }
    for name in [
        "key",
        "sort_key",
        "primary_key",
        "api_key_column",
        "tokenCount",
        "password_field",
        "monkey",
        "tokenize",
        "compass",
        "first_pass",
        "author",
        "is_password",
        "private_key_id",
        "keyword",
    ] {
        assert!(Name::of(name).is_none(), "{name}");
    }
}
