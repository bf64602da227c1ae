//! `[grant]` of a policy file: how many people have to grant, and who.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::error::PolicyError;
use crate::model::{All, Capability, Quorum, Role, Rule, VerdictKind, When};

/// The most people that a rule can ask for.
const QUORUM_MAX: u8 = 16;
/// The most rules of a policy, with those of the policies that it extends.
const RULES_MAX: usize = 32;

/// One table `[grant]`, or several `[[grant]]`.
#[derive(Clone, Debug)]
pub(super) struct Grants(Vec<GrantRule>);

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantRule {
    #[serde(default)]
    when: Occasion,
    quorum: Option<Count>,
    #[serde(default)]
    roles: BTreeSet<Role>,
    not_self: Option<bool>,
    #[serde(default)]
    veto: BTreeSet<Role>,
    #[serde(default)]
    touch: bool,
    #[serde(default)]
    pin: bool,
}

#[derive(Clone, Debug, Default)]
struct Occasion(When);

#[derive(Clone, Copy, Debug)]
struct Count(Quorum);

impl Grants {
    /// The rules, or what is wrong with one of them.
    pub fn rules(self, path: &Path, text: &str) -> Result<Vec<Rule>, PolicyError> {
        if self.0.is_empty() {
            let message = "`grant = []` asks nobody for anything; leave it out, or write a table [[grant]] for each rule";
            return Err(PolicyError::new(path, message).at(text, "grant"));
        }
        self.0
            .into_iter()
            .map(|rule| {
                rule.resolve()
                    .map_err(|(key, message)| PolicyError::new(path, message).at(text, key))
            })
            .collect()
    }
}

/// Adds the rules of a file to those of the policy that it extends: all of them have to be met, so that a file can only
/// ask for more.
pub(super) fn add(
    rules: &mut Vec<Rule>,
    more: Option<Grants>,
    path: &Path,
    text: &str,
) -> Result<(), PolicyError> {
    for rule in more.map_or_else(|| Ok(Vec::new()), |more| more.rules(path, text))? {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    match rules.len() > RULES_MAX {
        true => {
            let message = format!("at most {RULES_MAX} rules, with those of what it extends");
            Err(PolicyError::new(path, message).at(text, "grant"))
        }
        false => Ok(()),
    }
}

impl GrantRule {
    fn resolve(self) -> Result<Rule, (&'static str, String)> {
        let quorum = self.quorum.map_or(Quorum::People(1), |count| count.0);
        let alone = quorum == Quorum::People(1);
        if quorum == Quorum::All(All::All) && self.roles.is_empty() {
            return Err((
                "grant.quorum",
                "`all` needs `roles`: everybody who has one of them has to grant".to_owned(),
            ));
        }
        if self.not_self == Some(false) && !alone {
            return Err((
                "grant.not_self",
                "the person whose agent asks never counts where more than one has to grant"
                    .to_owned(),
            ));
        }
        Ok(Rule {
            when: self.when.0,
            quorum,
            roles: self.roles,
            not_self: self.not_self.unwrap_or(true),
            veto: self.veto,
            touch: self.touch,
            pin: self.pin,
        })
    }
}

impl<'de> Deserialize<'de> for Grants {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Grants;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table [grant], or tables [[grant]]")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Grants, A::Error> {
                GrantRule::deserialize(MapAccessDeserializer::new(map))
                    .map(|rule| Grants(vec![rule]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Grants, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Grants)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for Occasion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Occasion;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"flagged\", \"clear\", or a list of capabilities")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Occasion, E> {
                [VerdictKind::Clear, VerdictKind::Flagged]
                    .into_iter()
                    .find(|kind| kind.as_str() == word)
                    .map(|kind| Occasion(When::Verdict(kind)))
                    .ok_or_else(|| E::unknown_variant(word, &["flagged", "clear"]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Occasion, A::Error> {
                let some = BTreeSet::<Capability>::deserialize(SeqAccessDeserializer::new(seq))?;
                match some.is_empty() {
                    true => Err(A::Error::custom(
                        "`when = []` never applies; leave it out for always",
                    )),
                    false => Ok(Occasion(When::Capabilities(some))),
                }
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a number of people from 1 to {QUORUM_MAX}, or \"all\"")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Count, E> {
                u8::try_from(number)
                    .ok()
                    .filter(|n| (1..=QUORUM_MAX).contains(n))
                    .map(|n| Count(Quorum::People(n)))
                    .ok_or_else(|| {
                        E::custom(format!(
                            "{number} people cannot be asked for: from 1 to {QUORUM_MAX}, or \"all\""
                        ))
                    })
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Count, E> {
                match word {
                    "all" => Ok(Count(Quorum::All(All::All))),
                    _ => Err(E::unknown_variant(word, &["all"])),
                }
            }
        }

        deserializer.deserialize_any(Either)
    }
}
