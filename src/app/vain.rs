//! What no votes can grant here, for those who look before anybody asks.

use crate::ballot::{Electorate, Vain};
use crate::config::Config;
use crate::model::{ALL_DATA, Routes};
use crate::policy::Policy;

use super::voting::files::VotingFiles;

/// Who may vote here, or why nobody can; `None` without `[desk]`.
pub fn electorate(config: &Config) -> Option<Result<Electorate, String>> {
    let desk = config.desk.as_ref()?;
    Some(VotingFiles::from(desk).read().map_err(|e| e.to_string()))
}

/// What of a policy's rules votes cannot give, in a sentence each, then what is worth a look.
pub fn sentences(
    policy: &Policy,
    electorate: &Electorate,
    config: &Config,
) -> (Vec<String>, Vec<String>) {
    let none = Routes::default();
    let routes = config.desk.as_ref().map_or(&none, |desk| &desk.routes);
    let all = Vain::of(&policy.grant, electorate, &routes.of([]));
    let never = all.never.iter();
    let never = never.map(|(rule, why)| format!("no votes can meet `{rule}`: {why}"));
    let mut never: Vec<String> = never.collect();
    let mut notes = Vec::new();
    for name in routes.0.keys().filter(|name| *name != ALL_DATA) {
        let readers = routes.of([name.as_str()]);
        let vain = Vain::of(&policy.grant, electorate, &readers);
        let more = vain.never.iter().filter(|one| !all.never.contains(one));
        never.extend(more.map(|(rule, why)| {
            format!("no votes can meet `{rule}` for the data set {name}: {why}")
        }));
        let apart = routes.0.keys().filter(|other| {
            let both = routes.of([name.as_str(), other.as_str()]);
            *other > name && both.is_nobody() && !readers.is_nobody()
        });
        notes.extend(apart.map(|other| {
            format!("what uses {name} and {other} at once no role may see, so it is not offered")
        }));
    }
    if !all.own.is_empty() {
        notes.push(format!(
            "no votes can grant what the own agents of {} ask: too few others may vote",
            all.own.join(", ")
        ));
    }
    let anybody = all.anybody.iter();
    notes
        .extend(anybody.map(|rule| format!("`{rule}` names no role: everybody with a key counts")));
    (never, notes)
}
