//! What is wrong with a file or an option, told so that it can be put right.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is.
    pub what: String,
    /// The file and the line, or the option.
    pub place: String,
    /// How to put it right, where that can be said.
    pub hint: String,
}

impl Problem {
    /// Something wrong at `place`.
    pub fn new(what: impl Into<String>, place: impl Into<String>) -> Self {
        Self { what: what.into(), place: place.into(), hint: String::new() }
    }

    /// Something wrong in a line of a file, counted from 1.
    pub fn in_line(what: impl Into<String>, file_name: &str, line: usize) -> Self {
        Self::new(what, format!("{file_name}:{line}"))
    }

    /// With a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if !self.place.is_empty() {
            write!(f, "\n  where: {}", self.place)?;
        }
        if !self.hint.is_empty() {
            write!(f, "\n  hint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
