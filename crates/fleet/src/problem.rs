//! Errors in a file or an option, with the information a user needs to correct them.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    /// The file and the line, or the option.
    pub place: String,
    /// A correction, if one is known.
    pub hint: String,
}

impl Problem {
    pub fn new(what: impl Into<String>, place: impl Into<String>) -> Self {
        Self { what: what.into(), place: place.into(), hint: String::new() }
    }

    /// Reports an error in a line of a file, counted from 1.
    pub fn in_line(what: impl Into<String>, file_name: &str, line: usize) -> Self {
        Self::new(what, format!("{file_name}:{line}"))
    }

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
