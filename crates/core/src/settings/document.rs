//! The parsed file with the position of every key and value.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

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
        let finding = |error: toml::de::Error| {
            let rule = format!("not valid TOML: {}", error.message());
            Finding::at(&lines, error.span().unwrap_or(0..0), Problem::new("", "", rule))
        };
        Err(errors.into_iter().map(finding).collect())
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

/// Splits `flows[1]` into the steps `flows` and `1`.
fn steps_of(part: &str) -> impl Iterator<Item = &str> {
    part.split('[').map(|step| step.trim_end_matches(']'))
}

fn find_key<'a, 't>(table: &'a DeTable<'t>, key: &str) -> Option<&'a Spanned<DeValue<'t>>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
}
