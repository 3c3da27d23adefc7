//! Tables of results: named columns of equal length.

/// The values of a column. The last word of the column's name is the unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Counts, bytes, identifiers.
    Unsigned(Vec<u64>),
    /// Picoseconds, where -1 means "never happened"; numbers, where -1 means none.
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

    /// Whether the column has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A named table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub name: &'static str,
    /// Name and values of each column, in display order.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// Creates an empty table.
    pub const fn new(name: &'static str) -> Self {
        Self { name, columns: Vec::new() }
    }

    /// Adds a column of numbers, one for each of `rows`.
    pub fn unsigned<R>(self, name: &'static str, rows: &[R], value: impl Fn(&R) -> u64) -> Self {
        self.with(name, Column::Unsigned(rows.iter().map(value).collect()))
    }

    /// Adds a column of numbers that can be -1, for none.
    pub fn signed<R>(self, name: &'static str, rows: &[R], value: impl Fn(&R) -> i64) -> Self {
        self.with(name, Column::Signed(rows.iter().map(value).collect()))
    }

    /// Adds a column of times in picoseconds.
    pub fn time<R>(self, name: &'static str, rows: &[R], value: impl Fn(&R) -> hitless_core::wire::Time) -> Self {
        let ps = |row| i64::try_from(value(row).as_ps()).unwrap_or(-1);
        self.with(name, Column::Signed(rows.iter().map(ps).collect()))
    }

    /// Adds a column of names.
    pub fn text<R>(self, name: &'static str, rows: &[R], value: impl Fn(&R) -> String) -> Self {
        self.with(name, Column::Text(rows.iter().map(value).collect()))
    }

    fn with(mut self, name: &'static str, column: Column) -> Self {
        assert!(self.columns.first().is_none_or(|(_, first)| first.len() == column.len()));
        self.columns.push((name, column));
        self
    }
}
