//! Where rows go while a run goes on.

use super::Table;

/// Records of flows and messages that a run keeps before it looks for rows to hand over: some 10 MB.
pub const RECORDS: usize = 1 << 16;

/// Takes rows of the tables "flows" and "messages" as they are known for good, so that a run need not keep them.
///
/// One table after the other, each with some rows: all of one name together, in this order, are the table that a run
/// has which keeps it.
pub trait RowSink: Send {
    /// Takes the next rows of the table of that name.
    fn take(&mut self, rows: Table);
}
