//! What a program, a command or a test is refused for.

use std::fmt;

/// One reason, with the place in the P4 source where the document says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong: the thing by its name in P4, and the rule.
    pub what: String,
    /// Where: "forward.p4:31" of the P4 source, or "entries.txt:4" of a file of commands.
    pub place: Option<String>,
}

/// A result whose error is an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Without a place.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), place: None }
    }

    /// At `place`, unless it has a more exact one already.
    pub fn at(mut self, place: Option<String>) -> Self {
        self.place = self.place.or(place);
        self
    }

    /// The same, in `thing`.
    pub(crate) fn within(self, thing: &str, name: &str, place: Option<String>) -> Self {
        Self { what: format!("{thing} {name}: {}", self.what), ..self.at(place) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(formatter, "{place}: {}", self.what),
            None => formatter.write_str(&self.what),
        }
    }
}

impl std::error::Error for Error {}

/// `Err` of what is formatted.
macro_rules! refuse {
    ($($part:tt)*) => { return Err($crate::error::Error::new(format!($($part)*))) };
}
pub(crate) use refuse;
