//! The parsed file with the position of every key and value.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings::scalar::number_in;
use crate::settings::{Finding, Lines, Problem};

pub struct Document<'t> {
    pub text: &'t str,
    pub lines: Lines<'t>,
    /// The top-level table; positions are byte offsets into `text`.
    pub root: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
    /// Parses `text`.
    ///
    /// # Errors
    /// All syntax errors that the parser can recover from, together.
    pub fn parse(text: &'t str) -> Result<Self, Vec<Finding>> {
        let (root, errors) = DeTable::parse_recoverable(text);
        let lines = Lines::of(text);
        if errors.is_empty() {
            return Ok(Self { text, lines, root });
        }
        let finding = |error: &toml::de::Error| {
            let span = error.span().unwrap_or(0..0);
            let hint = syntax_hint(text, span.clone(), error.message());
            let rule = format!("not valid TOML: {}", error.message());
            Finding::at(&lines, span, Problem::new("", "", rule).maybe_hint(hint))
        };
        let mut findings: Vec<Finding> = errors.iter().map(finding).collect();
        // Further errors in a line, and all after an error within brackets, are consequences of the first.
        findings.sort_by_key(|finding| (finding.line, finding.column));
        findings.dedup_by_key(|finding| finding.line);
        let within = |finding: &Finding| BETWEEN.iter().any(|place| finding.rule.contains(place));
        let roots = findings.iter().position(within).map_or(findings.len(), |first| first + 1);
        findings.truncate(roots);
        Err(findings)
    }

    /// Returns the values without their positions.
    ///
    /// # Errors
    /// The parser's message, for example about a number that is too large.
    pub fn table(&self) -> Result<toml::Table, String> {
        let values = toml::Deserializer::from(self.root.clone());
        toml::Table::deserialize(values).map_err(|error| error.message().to_owned())
    }

    /// Finds the value of `field` (as in `flows[1].load`), or its innermost enclosing value if the field is not in the
    /// file.
    pub fn locate(&self, field: &str) -> Range<usize> {
        let mut steps = field.split('.').flat_map(steps_of);
        let Some(first) = steps.next() else { return 0..0 };
        let Some(mut found) = find_key(self.root.get_ref(), first) else { return 0..0 };
        for step in steps {
            let next = match found.get_ref() {
                DeValue::Table(table) => find_key(table, step),
                DeValue::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => None,
            };
            match next {
                Some(next) => found = next,
                None => break,
            }
        }
        found.span()
    }

    /// Returns the text in the bytes `span` if it is the value of a field; empty for multi-line text and for a whole
    /// table.
    pub fn written(&self, span: Range<usize>) -> &'t str {
        let written = self.text.get(span).unwrap_or("");
        if written.contains('\n') || written.starts_with('[') { "" } else { written }
    }
}

/// Parts of the parser's messages about errors within brackets and braces.
const BETWEEN: [&str; 2] = ["between array elements", "between key-value pairs"];

/// Suggests a correction of a syntax error at the bytes `span`.
fn syntax_hint(text: &str, span: Range<usize>, message: &str) -> Option<String> {
    let (before, after) = text.split_at_checked(span.start)?;
    let before = before.rsplit('\n').next()?.trim();
    let after = after.lines().next().unwrap_or("");
    if after.contains("//") {
        return Some("a comment begins with #".into());
    }
    if before.is_empty() && message.contains(BETWEEN[0]) {
        return Some("is a closing bracket missing above?".into());
    }
    let line = text[text[..span.start].rfind('\n').map_or(0, |end| end + 1)..].lines().next();
    if let Some(number) = line.and_then(with_decimal_comma) {
        return Some(format!("write {number}: a number has a decimal point"));
    }
    if message.contains("key with no value") || after.starts_with(':') {
        return Some("write name = value".into());
    }
    let is_about_a_value = ["quote", "boolean", "mantissa"].iter().any(|part| message.contains(part));
    let value = after.split(['#', ',', ']', '}']).next().filter(|_| is_about_a_value)?;
    corrected(value.trim()).map(|value| format!("write {value}"))
}

/// Returns the first number of a line with a point, if it is written with a decimal comma: `1.5` for `1,5`.
fn with_decimal_comma(line: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    line.match_indices(',').find_map(|(comma, _)| {
        let (before, after) = (&line[..comma], &line[comma + 1..]);
        let name = before.trim_end_matches(is_digit);
        let rest = after.trim_start_matches(is_digit);
        let (whole, fraction) = (&before[name.len()..], &after[..after.len() - rest.len()]);
        let is_whole = rest.trim_start().is_empty() || rest.trim_start().starts_with([',', '}', '#']);
        let is_number = !whole.is_empty() && !fraction.is_empty();
        (name.trim_end().ends_with('=') && is_whole && is_number).then(|| format!("{whole}.{fraction}"))
    })
}

/// Corrects a value: `True`, `.5`, `1 %`, `10 Gbps` without quotes. The result is valid TOML.
fn corrected(value: &str) -> Option<String> {
    let bare = value.trim_matches(|c: char| c.is_whitespace() || "\"';\u{201c}\u{201d}".contains(c));
    let number = if bare.starts_with('.') { format!("0{bare}") } else { number_in(bare).unwrap_or_default() };
    let candidates = [bare.to_lowercase(), number, format!("\"{bare}\"")];
    candidates.into_iter().find(|value| !bare.is_empty() && DeValue::parse(value).is_ok())
}

/// Splits `flows[1]` into the steps `flows` and `1`.
fn steps_of(part: &str) -> impl Iterator<Item = &str> {
    part.split('[').map(|step| step.trim_end_matches(']'))
}

fn find_key<'a, 't>(table: &'a DeTable<'t>, key: &str) -> Option<&'a Spanned<DeValue<'t>>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_comma_is_named_wherever_the_parser_stops() {
        let table = [
            ("rate = 1,5\nnext = 2\n", "1.5"),
            ("first = 1\nrate = 0,25 # share", "0.25"),
            ("loss = { kind = \"bernoulli\", rate = 0,001 }", "0.001"),
        ];
        for (text, number) in table {
            let findings = Document::parse(text).err().expect("a comma within a number is not TOML");
            let hint = format!("write {number}: a number has a decimal point");
            assert_eq!(findings[0].hint.as_deref(), Some(hint.as_str()), "{text}");
            assert_eq!(findings.len(), 1, "{text}");
        }
        let findings = Document::parse("list = [1,5]\nrate = \n").err().expect("a value is missing");
        assert!(findings.iter().all(|finding| !finding.hint.as_deref().unwrap_or("").contains("decimal point")));
    }
}
