//! Finds the valid name that a misspelt one probably meant.
//!
//! All hints use one distance: the number of edits, case-insensitive, where swapping two neighbours counts as
//! one. A name is near if the distance is at most a third of its length, or one, or if it consists of the
//! candidate's first or last words (`ttl` for `ttl_s`, `max_pending` for `queue_max_pending`), or the candidate of
//! the name's (`customers_df` for `customers`).

/// Longer names are not compared: they are not typing errors, and the cost is the product of the lengths.
const LENGTH_MAX: usize = 64;

/// The candidate nearest to `name`, if one is near enough to be meant.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = name.chars().count();
    if length > LENGTH_MAX {
        return None;
    }
    let most = (length / 3).max(1);
    candidates
        .into_iter()
        .filter(|c| {
            // The distance is at least the difference in length, which is cheaper to compute.
            let alike = c.chars().count().abs_diff(length) <= most && distance(name, c) <= most;
            alike || begins_or_ends(c, name) || begins_or_ends(name, c)
        })
        .map(|c| (distance(name, c), c))
        .min()
        .map(|(_, c)| c)
}

/// The candidate nearest to `name`, at any distance: for short lists, where one suggestion always helps.
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> &'c str {
    let name: String = name.chars().take(LENGTH_MAX).collect();
    candidates
        .into_iter()
        .min_by_key(|c| distance(&name, c))
        .unwrap_or("")
}

/// Up to `most` names of a long list, the most similar ones first: for hints that cannot show all.
pub fn alike<'c>(name: &str, names: &[&'c str], most: usize) -> Vec<&'c str> {
    let name: String = name
        .chars()
        .take(LENGTH_MAX)
        .collect::<String>()
        .to_lowercase();
    let likeness = |other: &str| strsim::jaro_winkler(&name, &other.to_lowercase());
    let mut all: Vec<(f64, &str)> = names.iter().map(|one| (likeness(one), *one)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    all.into_iter().take(most).map(|(_, one)| one).collect()
}

/// `; did you mean `x`?` or nothing, for the end of a message.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |n| format!("; did you mean `{n}`?"))
}

/// Whether `part` is the first or the last words of `whole`.
fn begins_or_ends(whole: &str, part: &str) -> bool {
    let (whole, part) = (whole.to_lowercase(), part.to_lowercase());
    let first = whole
        .strip_prefix(&part)
        .is_some_and(|r| r.starts_with('_'));
    let last = whole.strip_suffix(&part).is_some_and(|r| r.ends_with('_'));
    part.len() > 2 && (first || last)
}

fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_name_and_nonsense_finds_none() {
        let names = ["profile", "profiles", "theme", "ttl_s", "ttl_max_s"];
        for (typed, expected) in [
            ("theem", Some("theme")),
            ("Theme", Some("theme")),
            ("profil", Some("profile")),
            ("ttl-s", Some("ttl_s")),
            ("ttl", Some("ttl_s")),
            ("max_s", Some("ttl_max_s")),
            ("theme_of_day", Some("theme")),
            ("my_profile", Some("profile")),
            ("zzzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), expected, "{typed}");
        }
        assert_eq!(nearest(&"profile".repeat(100_000), names), None);
    }

    #[test]
    fn only_a_near_name_is_offered() {
        let names = ["numpy", "pandas", "math"];
        assert_eq!(nearest("numpi", names), Some("numpy"));
        assert_eq!(nearest("pnadas", names), Some("pandas"));
        assert_eq!(nearest("requests", names), None);
        assert_eq!(closest("maths are", names), "math");
        assert_eq!(alike("maths", &names, 2), ["math", "pandas"]);
        assert_eq!(alike("", &names, 9).len(), 3);
    }
}
