//! The nearest of the names that would have been right.

/// The candidate with the smallest edit distance, if one is near enough to be meant.
pub fn nearest<'c>(wrong: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let most = (wrong.chars().count() / 3).max(1);
    let length = wrong.chars().count();
    candidates
        // The difference in length alone is that many edits.
        .filter(|c| c.chars().count().abs_diff(length) <= most)
        .map(|c| (distance(wrong, c), c))
        .filter(|(d, _)| *d <= most)
        .min()
        .map(|(_, c)| c)
}

/// Edit distance where swapping two neighbours counts once (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let change = rows[i][j] + usize::from(x != y);
            let mut best = change.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_name_is_offered() {
        let names = ["numpy", "pandas", "math"];
        assert_eq!(nearest("numpi", names.into_iter()), Some("numpy"));
        assert_eq!(nearest("pnadas", names.into_iter()), Some("pandas"));
        assert_eq!(nearest("requests", names.into_iter()), None);
    }
}
