//! What is wrong with a file of settings, told so that it can be put right.

use std::fmt;
use std::ops::Range;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The field, as `flows[1].load` (counted from 0); empty for the file as a whole.
    pub field: String,
    /// The value that was given, as written; empty where something is missing.
    pub value: String,
    /// What must hold.
    pub rule: String,
    /// How to put it right, where that can be said.
    pub hint: Option<String>,
    /// Line in the file, counted from 1.
    pub line: usize,
    /// Column in the line, counted from 1.
    pub column: usize,
    /// The line itself.
    pub source_line: String,
    /// Number of characters that the caret marks.
    pub width: usize,
}

/// Everything that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The file's name.
    pub file: String,
    /// What was found, in order of line; never empty.
    pub findings: Vec<Finding>,
}

impl Finding {
    /// `problem`, which the bytes `span` of the file's `text` have.
    pub fn at(text: &str, span: Range<usize>, problem: Problem) -> Self {
        let (line_start, line) = line_at(text, span.start);
        let source_line = text[line_start..].lines().next().unwrap_or("").to_string();
        let before = &text[line_start..span.start.max(line_start).min(line_start + source_line.len())];
        let column = before.chars().count() + 1;
        let marked = text.get(span).unwrap_or("").lines().next().unwrap_or("").trim_end().chars().count();
        let Problem { field, value, rule, hint } = problem;
        Self { field, value, rule, hint, line, column, source_line, width: marked.max(1) }
    }
}

/// What is wrong, before it is known where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field, as `flows[1].load` (counted from 0); empty for the file as a whole.
    pub field: String,
    /// The value that was given; empty: as it is written in the file.
    pub value: String,
    /// What must hold.
    pub rule: String,
    /// How to put it right, where that can be said.
    pub hint: Option<String>,
}

impl Problem {
    /// `rule` does not hold for `value` of `field`.
    pub fn new(field: impl Into<String>, value: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { field: field.into(), value: value.into(), rule: rule.into(), hint: None }
    }

    /// With a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With a hint, if there is one.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

/// What is wrong with a text of which each line says one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// Line in the text, counted from 1; zero for the text as a whole.
    pub line: usize,
    /// What must hold.
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

/// Start of the line that holds byte `position`, and its number counted from 1.
fn line_at(text: &str, position: usize) -> (usize, usize) {
    let mut end = position.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    (before.rfind('\n').map_or(0, |newline| newline + 1), before.matches('\n').count() + 1)
}

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
        let Finding { line, column, field, value, rule, hint, source_line, width } = self;
        write!(f, "{file}:{line}:{column}: ")?;
        match (field.is_empty(), value.is_empty()) {
            (true, _) => writeln!(f, "{rule}")?,
            (false, true) => writeln!(f, "{field}: {rule}")?,
            (false, false) => writeln!(f, "{field} = {value}: {rule}")?,
        }
        let margin = line.to_string().len();
        writeln!(f, "{:margin$} |", "")?;
        writeln!(f, "{line} | {source_line}")?;
        writeln!(f, "{:margin$} | {:indent$}{}", "", "", "^".repeat(*width), indent = column - 1)?;
        match hint {
            Some(hint) => writeln!(f, "{:margin$} = hint: {hint}", ""),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SettingsError {}
