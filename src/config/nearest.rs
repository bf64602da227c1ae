//! The valid name that a misspelt one probably meant.

/// Longer names are not compared: nobody mistypes them, and the comparison costs their product.
const LENGTH_MAX: usize = 64;

/// The candidate most like `name`, if any is like it at all.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LENGTH_MAX {
        return None;
    }
    let folded = name.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// `; did you mean `x`?` or nothing, to end a message with.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    nearest(name, candidates).map_or_else(String::new, |n| format!("; did you mean `{n}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_name_and_nonsense_finds_none() {
        let names = ["profile", "profiles", "theme", "ttl_s", "ttl_max_s"];
        for (typed, meant) in [
            ("theem", Some("theme")),
            ("Theme", Some("theme")),
            ("profil", Some("profile")),
            ("ttl-s", Some("ttl_s")),
            ("zzzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
        assert_eq!(nearest(&"profile".repeat(100_000), names), None);
    }
}
