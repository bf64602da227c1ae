//! The templates that drills are made from.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::model::{Draft, Drill, Harm, InputRequest, Wording, is_input_name};
use crate::policy::Contract;

use super::dice::Dice;

const TEMPLATES: &str = include_str!("../../../assets/drills/templates.toml");

/// What this dashboard has for drills.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// A profile in force for each contract, the default one first.
    pub profiles: BTreeMap<Contract, String>,
    /// The tables among the configured data sets, and whether they are private.
    pub tables: Vec<(String, bool)>,
}

/// The format of the file says what each field means.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    pub name: String,
    harm: Harm,
    profile: Contract,
    #[serde(default)]
    data: Data,
    title: String,
    reason: String,
    code: String,
    line: u32,
    does: String,
    #[serde(default)]
    wrong: Vec<String>,
    #[serde(default)]
    right: Vec<String>,
    #[serde(default)]
    words: BTreeMap<String, Vec<Vec<String>>>,
    #[serde(default)]
    inputs: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Data {
    #[default]
    None,
    Any,
    Private,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Templates {
    drill: Vec<Template>,
}

/// All templates. A test ensures that they can be read; if they could not, there would be no drills.
pub fn templates() -> &'static [Template] {
    static ALL: OnceLock<Vec<Template>> = OnceLock::new();
    ALL.get_or_init(|| match toml::from_str::<Templates>(TEMPLATES) {
        Ok(all) => all.drill,
        Err(error) => {
            tracing::error!(%error, "the templates of drills cannot be read");
            Vec::new()
        }
    })
}

impl Means {
    /// The data sets that a template may use.
    fn tables(&self, data: Data) -> Vec<&String> {
        let fits = |(name, private): &&(String, bool)| match data {
            Data::None => false,
            Data::Any => is_input_name(name),
            Data::Private => *private && is_input_name(name),
        };
        let found = self.tables.iter().filter(fits);
        found.map(|(name, _)| name).collect()
    }
}

impl Template {
    /// Whether this dashboard has what it needs.
    pub fn fits(&self, means: &Means) -> bool {
        let data = self.data == Data::None || !means.tables(self.data).is_empty();
        data && means.profiles.contains_key(&self.profile)
    }

    /// The profile in force that it is for.
    pub fn profile<'m>(&self, means: &'m Means) -> Option<&'m str> {
        means.profiles.get(&self.profile).map(String::as_str)
    }

    /// A proposal from this template, and what is wrong with it.
    pub fn make(&self, means: &Means, dice: &mut Dice) -> Option<(Draft, Drill)> {
        let mut words: Vec<(String, &str)> = Vec::new();
        for (word, choices) in &self.words {
            for (n, text) in dice.pick(choices)?.iter().enumerate() {
                let place = match n {
                    0 => format!("«{word}»"),
                    n => format!("«{word}.{n}»"),
                };
                words.push((place, text));
            }
        }
        let data = dice.pick(&means.tables(self.data)).copied();
        words.extend(data.map(|name| ("«data»".to_owned(), name.as_str())));
        let fill = |text: &str| {
            let put = |text: String, (place, word): &(String, &str)| text.replace(place, word);
            words.iter().fold(text.to_owned(), put)
        };
        let mut inputs = BTreeMap::new();
        for (name, text) in &self.inputs {
            let json = serde_json::from_str(&fill(text)).ok()?;
            inputs.insert(name.clone(), InputRequest::Json { json });
        }
        if let Some(name) = data {
            let dataset = name.clone();
            inputs.insert(name.clone(), InputRequest::Dataset { dataset });
        }
        let draft = Draft {
            code: fill(&self.code).into(),
            profile: Some(self.profile(means)?.to_owned()),
            title: Some(fill(&self.title)),
            reason: Some(fill(&self.reason)),
            agent: None,
            inputs,
            ttl_s: None,
            stream: false,
            idempotency_key: None,
            traceparent: None,
        };
        let drill = Drill {
            template: self.name.clone(),
            harm: self.harm,
            line: self.line,
            does: fill(&self.does),
            wording: Wording {
                wrong: self.wrong.iter().map(|text| fill(text)).collect(),
                right: self.right.iter().map(|text| fill(text)).collect(),
            },
        };
        Some((draft, drill))
    }
}
