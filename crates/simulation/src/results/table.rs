//! Tables of results: named columns of equal length.

/// The values of a column. Its unit is the last word of its name.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Counts, bytes, identifiers.
    Unsigned(Vec<u64>),
    /// Picoseconds, where -1 means "never happened".
    Signed(Vec<i64>),
    /// Names.
    Text(Vec<String>),
}

impl Column {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Column::Unsigned(values) => values.len(),
            Column::Signed(values) => values.len(),
            Column::Text(values) => values.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Name and values of each column, in the order to show.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// An empty table.
    pub const fn new(name: &'static str) -> Self {
        Self { name, columns: Vec::new() }
    }

    /// The table with a column of numbers, one from each of `rows`.
    pub fn unsigned<R>(self, name: &'static str, rows: &[R], value: impl Fn(&R) -> u64) -> Self {
        self.with(name, Column::Unsigned(rows.iter().map(value).collect()))
    }

    /// The table with a column of times in picoseconds.
    pub fn time<R>(self, name: &'static str, rows: &[R], value: impl Fn(&R) -> hitless_core::wire::Time) -> Self {
        let ps = |row| i64::try_from(value(row).as_ps()).unwrap_or(-1);
        self.with(name, Column::Signed(rows.iter().map(ps).collect()))
    }

    /// The table with a column of names.
    pub fn text<R>(self, name: &'static str, rows: &[R], value: impl Fn(&R) -> String) -> Self {
        self.with(name, Column::Text(rows.iter().map(value).collect()))
    }

    fn with(mut self, name: &'static str, column: Column) -> Self {
        debug_assert!(self.columns.first().is_none_or(|(_, first)| first.len() == column.len()));
        self.columns.push((name, column));
        self
    }
}
