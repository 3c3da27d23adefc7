//! Rows of flows and messages of a run that keeps them in memory: columns instead of records, names as numbers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hitless_simulation::results::{Column, RowSink, Table};

/// Keeps the rows of some tables, and drops all others. Clones share the rows.
#[derive(Clone)]
pub struct KeptRows {
    /// Names of the tables to keep; `None` means all.
    chosen: Option<Arc<[String]>>,
    tables: Arc<Mutex<Vec<KeptTable>>>,
}

/// A table with the rows taken before now.
#[derive(Default)]
pub struct KeptTable {
    pub name: &'static str,
    pub columns: Vec<(&'static str, KeptColumn)>,
}

/// The values of a column.
pub enum KeptColumn {
    /// Numbers.
    Numbers(Column),
    /// Names; many rows share a name.
    Names(Names),
}

/// Names by number.
#[derive(Default)]
pub struct Names {
    /// Each name once.
    pub all: Vec<String>,
    /// Number of the name in each row.
    pub rows: Vec<u32>,
    known: HashMap<String, u32>,
}

impl KeptRows {
    /// Makes a sink for the `chosen` tables, or for all.
    pub fn new(chosen: Option<Vec<String>>) -> Self {
        Self { chosen: chosen.map(Arc::from), tables: Arc::default() }
    }

    /// Whether it keeps any rows.
    pub fn keeps_any(&self) -> bool {
        ["flows", "messages"].iter().any(|name| self.wants(name))
    }

    /// Takes all kept tables.
    pub fn take_tables(&self) -> Vec<KeptTable> {
        std::mem::take(&mut self.tables())
    }

    fn tables(&self) -> MutexGuard<'_, Vec<KeptTable>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RowSink for KeptRows {
    fn wants(&self, table: &str) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.iter().any(|name| name == table))
    }

    fn take(&mut self, rows: Table) {
        let mut tables = self.tables();
        match tables.iter_mut().find(|table| table.name == rows.name) {
            Some(table) => {
                table.columns.iter_mut().zip(rows.columns).for_each(|((_, kept), (_, more))| kept.append(more));
            }
            None => {
                let columns = rows.columns.into_iter().map(|(name, column)| (name, KeptColumn::new(column))).collect();
                tables.push(KeptTable { name: rows.name, columns });
            }
        }
    }
}

impl KeptColumn {
    fn new(column: Column) -> Self {
        match column {
            Column::Text(names) => {
                let mut kept = Names::default();
                kept.append(names);
                KeptColumn::Names(kept)
            }
            numbers => KeptColumn::Numbers(numbers),
        }
    }

    /// Adds further rows of the same column.
    fn append(&mut self, more: Column) {
        match (self, more) {
            (KeptColumn::Numbers(Column::Unsigned(values)), Column::Unsigned(mut more)) => values.append(&mut more),
            (KeptColumn::Numbers(Column::Signed(values)), Column::Signed(mut more)) => values.append(&mut more),
            (KeptColumn::Names(names), Column::Text(more)) => names.append(more),
            _ => unreachable!("a column has one type in all pieces of its table"),
        }
    }
}

impl Names {
    fn append(&mut self, names: Vec<String>) {
        self.rows.reserve(names.len());
        for name in names {
            let next = self.all.len() as u32;
            let number = *self.known.entry(name).or_insert_with_key(|name| {
                self.all.push(name.clone());
                next
            });
            self.rows.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(name: &'static str, numbers: [u64; 2], hosts: [&str; 2]) -> Table {
        let rows: Vec<_> = numbers.into_iter().zip(hosts).collect();
        Table::new(name).unsigned("flow", &rows, |row| row.0).text("source", &rows, |row| row.1.to_owned())
    }

    #[test]
    fn pieces_of_a_table_become_one_and_tables_that_were_not_chosen_are_dropped() {
        let mut rows = KeptRows::new(Some(vec!["flows".to_owned()]));
        assert!(rows.wants("flows") && !rows.wants("messages") && rows.keeps_any());
        rows.clone().take(piece("flows", [1, 2], ["a", "b"]));
        rows.take(piece("flows", [3, 4], ["b", "c"]));
        let [flows] = &rows.take_tables()[..] else { panic!("one table was kept") };
        let [(_, KeptColumn::Numbers(numbers)), (_, KeptColumn::Names(names))] = &flows.columns[..] else {
            panic!("a column of numbers and one of names")
        };
        assert_eq!(*numbers, Column::Unsigned(vec![1, 2, 3, 4]));
        assert_eq!((&names.all[..], &names.rows[..]), (&["a", "b", "c"].map(str::to_owned)[..], &[0, 1, 1, 2][..]));
        assert!(!KeptRows::new(Some(Vec::new())).keeps_any() && KeptRows::new(None).keeps_any());
    }
}
