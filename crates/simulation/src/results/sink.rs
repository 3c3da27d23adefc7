//! Destination of rows that a run hands over before its end.

use super::Table;

/// Number of flow and message records that a run keeps before it looks for rows to hand over; about 10 MB.
pub const RECORDS: usize = 1 << 16;

/// Takes rows of the tables "flows" and "messages" as soon as they are final, so that a run need not keep them.
///
/// Each call passes some rows of one table. The rows of one name, concatenated in this order, equal the table of a run
/// that keeps its rows.
pub trait RowSink: Send {
    /// Whether it takes rows of this table; otherwise they are not made.
    fn wants(&self, _table: &str) -> bool {
        true
    }

    /// Takes the next rows of the table named in `rows`.
    fn take(&mut self, rows: Table);
}
