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

/// Maximum number of names in a hint.
const LISTED: usize = 6;

/// Suggests a name for the unknown `word`: the closest of the `known` names, or a list of them. For a wrong number, as
/// in "h9", lists the names with other numbers.
pub fn suggestion<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let numbered = |name: &&str| stem(word) < word.len() && name[..stem(name)] == word[..stem(word)];
    let mut listed: Vec<&str> = known.clone().filter(numbered).collect();
    if listed.is_empty() {
        if let Some(name) = closest(word, known.clone()) {
            return Some(format!("did you mean \"{name}\"?"));
        }
        listed = known.collect();
    }
    (!listed.is_empty()).then(|| format!("known: {}", in_short(&listed)))
}

/// Joins the first of `names`, with the number of the others.
pub fn in_short(names: &[&str]) -> String {
    match names.split_at_checked(LISTED) {
        Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
        _ => names.join(", "),
    }
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

    #[test]
    fn an_unknown_name_gets_similar_or_existing_ones() {
        let nodes = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "leaf0"];
        let table = [
            ("h9", Some("known: h0, h1, h2, h3, h4, h5 and 1 more")),
            ("laef", Some("did you mean \"leaf0\"?")),
            ("leaf3", Some("known: leaf0")),
            ("gateway", Some("known: h0, h1, h2, h3, h4, h5 and 2 more")),
        ];
        for (word, hint) in table {
            assert_eq!(suggestion(word, nodes.into_iter()).as_deref(), hint, "{word}");
        }
        assert_eq!(suggestion("h0", [].into_iter()), None);
    }
}
