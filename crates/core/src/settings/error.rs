//! Errors in a file of settings, with the information a user needs to correct them.

use std::fmt::{self, Write};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The field, as `flows[1].load` (counted from 0); empty for the file as a whole.
    pub field: String,
    /// The value as written; empty if something is missing.
    pub value: String,
    /// The violated rule.
    pub rule: String,
    /// A correction, if one is known.
    pub hint: Option<String>,
    /// Line in the file, counted from 1.
    pub line: usize,
    /// Column in the line, counted from 1.
    pub column: usize,
    pub source_line: String,
    /// Number of characters that the caret marks.
    pub width: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    pub file: String,
    /// Findings in order of line; never empty.
    pub findings: Vec<Finding>,
}

/// The lines of a text, for converting positions.
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub fn of(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(newline, _)| newline + 1)).collect();
        Self { text, starts }
    }

    /// Index of the line with byte `position`.
    fn at(&self, position: usize) -> usize {
        self.starts.partition_point(|&start| start <= position) - 1
    }
}

impl Finding {
    /// Locates `problem` at the bytes `span` of `lines`.
    pub fn at(lines: &Lines<'_>, span: Range<usize>, problem: Problem) -> Self {
        let text = lines.text;
        let mut begin = span.start.min(text.len());
        while !text.is_char_boundary(begin) {
            begin -= 1;
        }
        let line = lines.at(begin);
        let line_start = lines.starts[line];
        let source_line = text[line_start..].lines().next().unwrap_or("").to_string();
        let before = &text[line_start..begin.min(line_start + source_line.len())];
        let column = before.chars().count() + 1;
        let marked = text.get(span).unwrap_or("").lines().next().unwrap_or("").trim_end().chars().count();
        let Problem { field, value, rule, hint } = problem;
        Self { field, value, rule, hint, line: line + 1, column, source_line, width: marked.max(1) }
    }

    /// Returns the visible part of the source line, the number of characters before the caret, and the number above it.
    /// Control characters become blanks, so that each character takes one column.
    fn excerpt(&self) -> (String, usize, usize) {
        let first = if self.column > LINE_SHOWN { self.column - 1 - LINE_SHOWN / 2 } else { 0 };
        let mut rest =
            self.source_line.chars().skip(first).map(|letter| if letter.is_control() { ' ' } else { letter });
        let shown: String = rest.by_ref().take(LINE_SHOWN).collect();
        let cut = |is_cut: bool| if is_cut { "..." } else { "" };
        let (left, right) = (cut(first > 0), cut(rest.next().is_some()));
        let indent = self.column - 1 - first;
        let width = self.width.min(LINE_SHOWN - indent);
        (format!("{left}{shown}{right}"), left.len() + indent, width)
    }
}

/// Maximum number of characters shown of a source line.
const LINE_SHOWN: usize = 160;

/// Displays text without raw control characters, which a terminal would obey; they are written as in TOML, `\u001b`.
struct Plain<'t>(&'t str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '\n' => f.write_char(letter),
            letter if letter.is_control() => write!(f, "\\u{:04x}", u32::from(letter)),
            letter => f.write_char(letter),
        })
    }
}

/// An error without its position in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field, as `flows[1].load` (counted from 0); empty for the file as a whole.
    pub field: String,
    /// The given value; if empty, the text in the file is shown.
    pub value: String,
    /// The violated rule.
    pub rule: String,
    /// A correction, if one is known.
    pub hint: Option<String>,
}

impl Problem {
    /// Reports that `value` of `field` violates `rule`.
    pub fn new(field: impl Into<String>, value: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { field: field.into(), value: value.into(), rule: rule.into(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

/// An error in a text that is read line by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// Line in the text, counted from 1; zero for the text as a whole.
    pub line: usize,
    /// The violated rule.
    pub rule: String,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.rule),
            line => write!(f, "line {line}: {}", self.rule),
        }
    }
}

impl std::error::Error for LineError {}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, finding) in self.findings.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            finding.write(f, &self.file)?;
        }
        Ok(())
    }
}

impl Finding {
    fn write(&self, f: &mut fmt::Formatter<'_>, file: &str) -> fmt::Result {
        let Finding { line, column, hint, .. } = self;
        let [file, field, value, rule] = [file, &self.field, &self.value, &self.rule].map(Plain);
        write!(f, "{file}:{line}:{column}: ")?;
        match (field.0.is_empty(), value.0.is_empty()) {
            (true, _) => writeln!(f, "{rule}")?,
            (false, true) => writeln!(f, "{field}: {rule}")?,
            (false, false) => writeln!(f, "{field} = {value}: {rule}")?,
        }
        let margin = line.to_string().len();
        let (shown, indent, width) = self.excerpt();
        writeln!(f, "{:margin$} |", "")?;
        writeln!(f, "{line} | {shown}")?;
        writeln!(f, "{:margin$} | {:indent$}{}", "", "", "^".repeat(width))?;
        match hint {
            Some(hint) => writeln!(f, "{:margin$} = hint: {}", "", Plain(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, span: Range<usize>, value: &str) -> String {
        let findings = vec![Finding::at(&Lines::of(text), span, Problem::new("name", value, "is wrong"))];
        SettingsError { file: "a.toml".into(), findings }.to_string()
    }

    #[test]
    fn an_error_in_a_long_line_shows_the_part_around_it() {
        for column in [1, 160, 161, 65_535, 65_536, 200_000] {
            let text = format!("x = 1\n{}BAD{}\n", "-".repeat(column - 1), "-".repeat(70_000));
            let start = 6 + column - 1;
            let told = shown(&text, start..start + 3, "");
            let lines: Vec<&str> = told.lines().collect();
            assert!(lines[0].starts_with(&format!("a.toml:2:{column}: ")), "{told}");
            assert!(lines.iter().all(|line| line.len() < 180), "{told}");
            let caret = lines[3].find('^').expect("a caret");
            assert_eq!(lines[2].get(caret..caret + 1), Some("B"), "{told}");
        }
    }

    #[test]
    fn a_caret_under_a_whole_long_line_ends_with_what_is_shown() {
        let text = "y".repeat(100_000);
        let told = shown(&text, 0..text.len(), "");
        assert_eq!(told.matches('^').count(), LINE_SHOWN);
    }

    #[test]
    fn control_characters_are_shown_as_text() {
        let told = shown("name = '\u{1b}[31m'\n", 7..14, "\u{1b}[31m\u{9b}0m");
        assert!(told.chars().all(|letter| letter == '\n' || !letter.is_control()), "{told:?}");
        assert!(told.contains("\\u001b[31m\\u009b0m"), "{told}");
    }

    #[test]
    fn places_beyond_the_text_and_within_a_letter_are_told() {
        for (span, line) in [(0..0, 1), (1..2, 1), (4..5, 2), (99..100, 2)] {
            assert_eq!(Finding::at(&Lines::of("äb\nc"), span.clone(), Problem::new("", "", "")).line, line, "{span:?}");
        }
    }
}
