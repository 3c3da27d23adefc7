use super::fields::matches;
use super::{Change, Write, unsupported};
use crate::entries::entry;
use crate::error::{Result, refuse};
use crate::p4runtime::info::TableInfo;
use crate::p4runtime::messages::{DEFAULT_ONLY, TABLE_ONLY};
use crate::p4runtime::schema::{At, Message};
use crate::program::{Entry, Table, Target};
use crate::run::needs_priority;

/// The highest priority in P4Runtime. In BMv2 and this program, the smallest number has the highest priority.
const PRIORITY_MAX: i64 = i32::MAX as i64;

impl<'a> Write<'a> {
    pub(super) fn table(&self, of: Message<'_>) -> Result<(&'a TableInfo, &'a Table)> {
        let id = of.id("table_id");
        match self.info.tables.get(&id) {
            Some(info) => Ok((info, &self.commands.program.tables[info.table as usize])),
            None => {
                if let Some(("table", name)) = self.info.names.get(&id).map(|(kind, name)| (*kind, name)) {
                    refuse!(
                        "the p4info has the table {name}, and the program has none of this name: it is never \
                             applied, or the p4info is of another program"
                    );
                }
                let known = self.info.tables.iter().map(|(id, info)| format!("{id} {}", info.name));
                let known: Vec<_> = known.collect();
                refuse!("the table_id is {}; the tables are {}", self.info.describe(id), known.join(", "))
            }
        }
    }

    pub(super) fn table_entry(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        let (info, table) = self.table(of)?;
        self.change_table(change, of, info, table).in_line(of, &format!("table {}", info.name))
    }

    fn change_table(&mut self, change: Change, of: Message<'_>, info: &TableInfo, table: &Table) -> Result<()> {
        if change != Change::Delete {
            if of.flag("is_const") || of.flag("const") {
                refuse!("is_const is true: the program's own entries are in its JSON already, and cannot be written");
            }
            unsupported(of, &["idle_timeout_ns", "time_since_last_hit"], "entries have no idle timeout")?;
            unsupported(of, &["meter_counter_data"], "meters do not count by colour")?;
        }
        if of.flag("is_default_action") {
            return self.default_entry(change, of, info, table);
        }
        if info.is_constant {
            refuse!("its entries are const: none can be inserted, modified or deleted");
        }
        let (entry, handle) = self.key(of, info, table)?;
        match (change, handle) {
            (Change::Insert, None) => self.insert(of, info, table, entry),
            (Change::Modify, Some(handle)) => self.modify(of, info, table, handle),
            (Change::Delete, Some(handle)) => {
                self.forget_action_set(info, handle);
                self.commands.delete(info.table, handle)
            }
            (Change::Insert, Some(_)) => refuse!("there is an entry with this match and priority already"),
            (_, None) => refuse!("there is no entry with this match and priority"),
        }
    }

    /// An entry with the match fields of `of` and no action yet, and the handle of an existing entry with the same key.
    pub(super) fn key(&self, of: Message<'_>, info: &TableInfo, table: &Table) -> Result<(Entry, Option<u32>)> {
        if info.fields.is_empty() {
            refuse!("it has no key, and so no entries: is_default_action says what it does");
        }
        let matches = matches(&format!("table {}", info.name), &info.fields, of)?;
        let made = entry(table, &matches, self.priority(of, table)?, Target::Member(0))?;
        let handle = self.commands.state.tables[info.table as usize].same_key(&made);
        Ok((made, handle))
    }

    /// Converts a priority: smaller numbers win here, and larger ones in P4Runtime.
    fn priority(&self, of: Message<'_>, table: &Table) -> Result<i64> {
        // P4Runtime, section "TableEntry": above 0 for tables with ternary, range or optional fields, else 0.
        match (of.signed("priority"), needs_priority(table)) {
            (priority @ 1.., true) => Ok(PRIORITY_MAX - priority),
            (0, true) => {
                refuse!("the priority is 0 or left out, and must be 1 at least: a field is TERNARY, RANGE or OPTIONAL")
            }
            (priority, true) => refuse!("the priority {priority} is below 1"),
            (0, false) => Ok(0),
            (priority, false) => {
                refuse!("the priority is {priority}, and must be left out: no field is TERNARY, RANGE or OPTIONAL")
            }
        }
    }

    fn insert(&mut self, of: Message<'_>, info: &TableInfo, table: &Table, entry: Entry) -> Result<()> {
        let Some(action) = of.message("action") else { refuse!("the entry has no action") };
        // Before `target`, which can create the group of an action set: a refusal here leaves none behind.
        self.direct(of, info, table)?;
        let target = self.target(info, table, action)?;
        let handle = self.commands.insert(info.table, Entry { target, ..entry })?;
        self.set_direct(of, info.table, handle, Change::Insert)
    }

    fn modify(&mut self, of: Message<'_>, info: &TableInfo, table: &Table, handle: u32) -> Result<()> {
        self.direct(of, info, table)?;
        if let Some(action) = of.message("action") {
            self.forget_action_set(info, handle);
            let target = self.target(info, table, action)?;
            self.commands.modify(info.table, handle, target)?;
        }
        self.set_direct(of, info.table, handle, Change::Modify)
    }

    /// Checks that the table has the counters and meters that the entry sets.
    fn direct(&self, of: Message<'_>, info: &TableInfo, table: &Table) -> Result<()> {
        if of.has("counter_data") && !table.has_counters {
            refuse!("counter_data is set, and {} has no direct counter", info.name);
        }
        if of.has("meter_config") && table.meter.is_none() {
            refuse!("meter_config is set, and {} has no direct meter", info.name);
        }
        Ok(())
    }

    /// Sets the counter and the meter of an entry. If a modification omits them, the counter keeps its value, and the
    /// meter returns to its initial configuration (P4Runtime, section "Direct Resources").
    fn set_direct(&mut self, of: Message<'_>, table: u32, handle: u32, change: Change) -> Result<()> {
        let program = &self.commands.program.tables[table as usize];
        if let Some(meter) = program.meter.filter(|_| change == Change::Modify || of.has("meter_config")) {
            self.set_direct_meter(table, handle, meter, of.message("meter_config"))?;
        }
        if let Some(data) = of.message("counter_data") {
            self.set_direct_counter(table, handle, data)?;
        }
        Ok(())
    }

    /// The target of an entry: an action, a member, a group, or a group for this entry alone.
    fn target(&mut self, info: &TableInfo, table: &Table, action: Message<'_>) -> Result<Target> {
        let kind = action.chosen("type");
        match (kind, info.profile) {
            (None, _) => refuse!("the action is empty"),
            (Some("action"), 0) => {
                let Some(action) = action.message("action") else { refuse!("the action is empty") };
                if info.actions.get(&action.id("action_id")) == Some(&DEFAULT_ONLY) {
                    let id = self.info.describe(action.id("action_id"));
                    refuse!("the action_id is {id}: an action for misses only");
                }
                self.call(info, table, action).map(Target::Call)
            }
            (Some(kind), 0) => refuse!("the entry has {kind}, and the table no action profile"),
            (Some("action"), _) => refuse!("the entry has an action, and the table takes members of an action profile"),
            (Some("action_profile_action_set"), profile) => self.action_set(info, table, profile, action),
            (Some(kind), profile) => self.known_target(profile, kind, action.id(kind)),
        }
    }

    fn default_entry(&mut self, change: Change, of: Message<'_>, info: &TableInfo, table: &Table) -> Result<()> {
        if change != Change::Modify {
            refuse!("a table always does something without an entry: the update must be of type MODIFY");
        }
        if of.has("match") || of.signed("priority") != 0 {
            refuse!("is_default_action is true, and the entry has a match or a priority");
        }
        unsupported(of, &["meter_config", "counter_data"], "misses have no counter or meter of their own")?;
        if info.has_constant_default {
            refuse!("its default action is const");
        }
        if info.profile != 0 {
            refuse!("it takes members of an action profile: what it does without an entry cannot be changed");
        }
        let Some(action) = of.message("action") else {
            return self.commands.set_default(info.table, None);
        };
        let Some(action) = action.message("action") else { refuse!("the default action is no action") };
        if info.actions.get(&action.id("action_id")) == Some(&TABLE_ONLY) {
            refuse!("the action_id is {}: an action for entries only", self.info.describe(action.id("action_id")));
        }
        let call = self.call(info, table, action)?;
        self.commands.set_default(info.table, Some(Target::Call(call)))
    }
}
