//! Executes a `p4.v1.WriteRequest`.
//!
//! Updates are executed in the order of the file, so each can build on earlier ones, although a server may reorder the
//! updates of a request. The first refused update refuses the file, which satisfies any `atomicity`.

mod arrays;
mod entries;
mod fields;
mod profiles;
mod replication;

use std::collections::{BTreeMap, BTreeSet};

use super::info::P4Info;
use super::messages::{DELETE, INSERT, MODIFY, WRITE_REQUEST};
use super::schema::{At, Document, Message};
use crate::commands::Commands;
use crate::error::{Error, Result, refuse};

/// A `p4.v1.WriteRequest` read from a file.
#[derive(Clone, Debug)]
pub struct Request(Document);

impl Request {
    /// Reads the request in `text`.
    pub fn read(text: &str, file: &str) -> Result<Self> {
        Document::read(text, file, &WRITE_REQUEST).map(Self)
    }

    /// Executes the request; `info` defines its numbers.
    ///
    /// # Errors
    /// On the first update that the program refuses, with file and line, or that is not supported, with its name.
    pub fn apply(&self, info: &P4Info, commands: Commands<'_>) -> Result<()> {
        let request = self.0.message();
        if let Some((name, place)) = request.first_set(&["role", "role_id"]) {
            let what = format!("WriteRequest: {name} is set, and roles are not supported: there is one control plane");
            return Err(Error::new(what).at(Some(place)));
        }
        let mut write = Write { info, commands, profiles: BTreeMap::new() };
        request.messages("updates").try_for_each(|update| write.update(update).in_line(update, "Update"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Insert,
    Modify,
    Delete,
}

/// Members and groups of an action profile, by the control plane's numbers.
#[derive(Default)]
struct Given {
    members: BTreeMap<u32, u32>,
    /// Handle and `max_size`.
    groups: BTreeMap<u32, (u32, i64)>,
    /// Groups created for the action set of an entry.
    one_shot: BTreeSet<u32>,
}

struct Write<'a> {
    info: &'a P4Info,
    commands: Commands<'a>,
    /// By number in the program.
    profiles: BTreeMap<u32, Given>,
}

impl Write<'_> {
    fn update(&mut self, update: Message<'_>) -> Result<()> {
        let change = match update.signed("type") {
            INSERT => Change::Insert,
            MODIFY => Change::Modify,
            DELETE => Change::Delete,
            _ => refuse!("the type of the update is neither INSERT nor MODIFY nor DELETE"),
        };
        let entity = update.message("entity");
        let name = entity.and_then(|entity| entity.chosen("entity"));
        let (Some(entity), Some(name)) = (entity, name) else { refuse!("it has no entity") };
        let Some(of) = entity.message(name) else { return Ok(()) };
        match name {
            "table_entry" => self.table_entry(change, of).in_line(of, "TableEntry"),
            "action_profile_member" => self.member(change, of).in_line(of, "ActionProfileMember"),
            "action_profile_group" => self.group(change, of).in_line(of, "ActionProfileGroup"),
            "meter_entry" => self.meter(change, of).in_line(of, "MeterEntry"),
            "direct_meter_entry" => self.direct_meter(change, of).in_line(of, "DirectMeterEntry"),
            "counter_entry" => self.counter(change, of).in_line(of, "CounterEntry"),
            "direct_counter_entry" => self.direct_counter(change, of).in_line(of, "DirectCounterEntry"),
            "packet_replication_engine_entry" => self.replication(change, of).in_line(of, "packet replication"),
            "value_set_entry" => self.value_set(change, of).in_line(of, "ValueSetEntry"),
            "register_entry" => self.register(change, of).in_line(of, "RegisterEntry"),
            other => {
                let why = match other {
                    "digest_entry" => "digests are counted, and there is nobody to send them to",
                    _ => "externs beyond v1model are not there",
                };
                Err(Error::new(format!("{other} is not supported: {why}"))).in_line(of, "Entity")
            }
        }
    }
}

/// Refuses insertions and deletions of arrays: their cells exist from the start.
fn modify_only(change: Change, what: &str) -> Result<()> {
    match change {
        Change::Modify => Ok(()),
        Change::Insert | Change::Delete => refuse!("the update of {what} must be of type MODIFY"),
    }
}

/// Refuses fields that are set and would be ignored here.
fn unsupported(of: Message<'_>, names: &[&'static str], why: &str) -> Result<()> {
    match of.first_set(names) {
        Some((name, _)) => refuse!("{name} is set, and is not supported: {why}"),
        None => Ok(()),
    }
}
