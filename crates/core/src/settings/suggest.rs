//! "Did you mean": the closest of several words by edit distance.

/// Returns the candidate closest to `word` if at most a third of the letters differ. Ties go to a candidate with the
/// same first letter.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    let rank = |candidate: &'a str| {
        let edits = distance(&word.to_lowercase(), &candidate.to_lowercase());
        (edits, candidate.chars().next() != word.chars().next(), candidate)
    };
    let ranked = candidates.into_iter().map(rank);
    let near = ranked.filter(|(edits, _, candidate)| *edits <= letters.max(candidate.chars().count()).div_ceil(3));
    near.min_by_key(|(edits, differs, _)| (*edits, *differs)).map(|(_, _, candidate)| candidate)
}

/// Counts the edits (insert, delete, replace, swap neighbours) that turn `a` into `b` (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
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
    fn distance_counts_edits() {
        let table = [("", "", 0), ("loss", "loss", 0), ("los", "loss", 1), ("lsos", "loss", 1), ("abc", "xyz", 3)];
        for (a, b, edits) in table {
            assert_eq!(distance(a, b), edits, "{a} {b}");
        }
    }

    #[test]
    fn closest_answers_only_when_it_is_close() {
        let words = ["duration", "seed", "topology"];
        assert_eq!(closest("duraton", words), Some("duration"));
        assert_eq!(closest("SEED", words), Some("seed"));
        assert_eq!(closest("bandwidth", words), None);
        assert_eq!(closest("", words), None);
        assert_eq!(closest("Gps", ["bps", "Gbps"]), Some("Gbps"));
    }
}
