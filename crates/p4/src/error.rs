use std::fmt;

/// The reason of a refusal, with its place in the P4 source if known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The object by its P4 name, and the violated rule.
    pub what: String,
    /// The place: "forward.p4:31" in the P4 source, or "entries.txt:4" in a file of commands.
    pub place: Option<String>,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), place: None }
    }

    /// Adds `place`, unless the error has a more exact one already.
    pub fn at(mut self, place: Option<String>) -> Self {
        self.place = self.place.or(place);
        self
    }

    /// Adds the object that contains the error.
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

/// Returns `Err` with a formatted message.
macro_rules! refuse {
    ($($part:tt)*) => { return Err($crate::error::Error::new(format!($($part)*))) };
}
pub(crate) use refuse;
