//! Changes to tables, action profiles and meters by the control plane, with the rules common to all its languages.
//!
//! simple_switch_CLI and P4Runtime name objects differently; the rules on const entries, table types, members in use
//! and rates are implemented here once.

use crate::commands::Commands;
use crate::error::{Result, refuse};
use crate::meter::Rate;
use crate::program::{Call, Entry, Table, Target};

impl<'a> Commands<'a> {
    fn known_table(&self, number: u32) -> &'a Table {
        &self.program.tables[number as usize]
    }

    /// The table to change. Refuses tables with const entries.
    fn changeable(&self, number: u32) -> Result<&'a Table> {
        let table = self.known_table(number);
        if !table.entries.is_empty() {
            refuse!("the table {} has const entries: none can be added, modified or deleted", table.name);
        }
        Ok(table)
    }

    /// Refuses a target that does not fit the table's type: a direct action, or a member or group of a profile.
    fn check_target(&self, table: &Table, target: &Target) -> Result<()> {
        match (target, table.profile) {
            (Target::Call(_), Some(_)) => {
                refuse!("the table {} takes members of an action profile, and no actions of its own", table.name)
            }
            (Target::Member(_) | Target::Group(_), None) => {
                refuse!("the table {} has no action profile", table.name)
            }
            (Target::Call(call), None) if !table.actions.contains(&call.action) => {
                let action = &self.program.actions[call.action as usize];
                refuse!("the table {} has no action {}", table.name, action.name)
            }
            (Target::Call(_), None) => Ok(()),
            (&Target::Member(member), Some(profile)) => self.check_member(profile, member.into()),
            (&Target::Group(group), Some(profile)) => self.check_group(profile, group.into()),
        }
    }

    pub fn insert(&mut self, number: u32, made: Entry) -> Result<u32> {
        let table = self.changeable(number)?;
        self.check_target(table, &made.target)?;
        let rows = &mut self.state.tables[number as usize];
        if rows.entries.len() as u64 >= table.size {
            refuse!("the table {} is full: it has room for {} entries", table.name, table.size);
        }
        if let Some(handle) = rows.same_key(&made) {
            refuse!("the table {} has such an entry already: its handle is {handle}", table.name);
        }
        Ok(rows.insert(table, made))
    }

    pub(crate) fn modify(&mut self, number: u32, handle: u32, target: Target) -> Result<()> {
        let table = self.changeable(number)?;
        self.check_target(table, &target)?;
        match self.state.tables[number as usize].row(handle) {
            Some(row) => row.entry.target = target,
            None => refuse!("the table {} has no entry {handle}", table.name),
        }
        Ok(())
    }

    pub(crate) fn delete(&mut self, number: u32, handle: u32) -> Result<()> {
        let table = self.changeable(number)?;
        if !self.state.tables[number as usize].remove(table, handle) {
            refuse!("the table {} has no entry {handle}", table.name);
        }
        Ok(())
    }

    pub(crate) fn clear(&mut self, number: u32) -> Result<()> {
        let table = self.changeable(number)?;
        self.state.tables[number as usize].clear(table);
        Ok(())
    }

    /// Sets the default action of a table; `None` restores the program's own.
    pub(crate) fn set_default(&mut self, number: u32, target: Option<Target>) -> Result<()> {
        let table = self.known_table(number);
        if table.is_default_constant {
            refuse!("the default action of {} is const", table.name);
        }
        if let Some(target) = &target {
            self.check_target(table, target)?;
        }
        let rows = &mut self.state.tables[number as usize];
        (rows.default, rows.default_target) = match target {
            None => (table.default.clone(), None),
            Some(Target::Call(call)) => (Some(call), None),
            Some(other) => (table.default.clone(), Some(other)),
        };
        Ok(())
    }

    pub(crate) fn add_member(&mut self, profile: u32, call: Call) -> u32 {
        let members = &mut self.state.profiles[profile as usize].members;
        members.push(Some(call));
        members.len() as u32 - 1
    }

    pub(crate) fn set_member(&mut self, profile: u32, member: u64, call: Call) -> Result<()> {
        self.check_member(profile, member)?;
        self.state.profiles[profile as usize].members[member as usize] = Some(call);
        Ok(())
    }

    /// Deletes a member. Refuses members of a group or of an entry. `name` is its number in the control plane's
    /// language.
    pub(crate) fn delete_member(&mut self, profile: u32, member: u64, name: u64) -> Result<()> {
        self.check_member(profile, member)?;
        let state = &self.state.profiles[profile as usize];
        if state.groups.iter().flatten().flatten().any(|&other| u64::from(other) == member) {
            refuse!("the member {name} is in a group");
        }
        if self.is_used(profile, &Target::Member(member as u32)) {
            refuse!("an entry takes the member {name}");
        }
        self.state.profiles[profile as usize].members[member as usize] = None;
        Ok(())
    }

    /// Adds a group; its members are ordered by handle.
    pub(crate) fn add_group(&mut self, profile: u32, members: Vec<u32>) -> Result<u32> {
        let known = &self.program.profiles[profile as usize];
        if known.selector.is_none() {
            refuse!("the action profile {} has no selector, and so no groups", known.name);
        }
        let groups = &mut self.state.profiles[profile as usize].groups;
        groups.push(Some(members));
        Ok(groups.len() as u32 - 1)
    }

    /// Deletes a group. Refuses the group of an entry. `name` is its number in the control plane's language.
    pub(crate) fn delete_group(&mut self, profile: u32, group: u64, name: u64) -> Result<()> {
        self.check_group(profile, group)?;
        if self.is_used(profile, &Target::Group(group as u32)) {
            refuse!("an entry takes the group {name}");
        }
        self.state.profiles[profile as usize].groups[group as usize] = None;
        Ok(())
    }

    pub(crate) fn change_group(&mut self, profile: u32, group: u64, member: u64, is_added: bool) -> Result<()> {
        self.check_member(profile, member)?;
        self.check_group(profile, group)?;
        let groups = &mut self.state.profiles[profile as usize].groups;
        let Some(members) = &mut groups[group as usize] else { return Ok(()) };
        match (members.binary_search(&(member as u32)), is_added) {
            (Ok(_), true) => refuse!("the group {group} has the member {member} already"),
            (Err(_), false) => refuse!("the group {group} has no member {member}"),
            (Err(place), true) => members.insert(place, member as u32),
            (Ok(place), false) => drop(members.remove(place)),
        }
        Ok(())
    }

    fn check_member(&self, profile: u32, member: u64) -> Result<()> {
        let members = &self.state.profiles[profile as usize].members;
        if !members.get(member as usize).is_some_and(Option::is_some) {
            refuse!("the action profile {} has no member {member}", self.program.profiles[profile as usize].name);
        }
        Ok(())
    }

    fn check_group(&self, profile: u32, group: u64) -> Result<()> {
        let groups = &self.state.profiles[profile as usize].groups;
        if !groups.get(group as usize).is_some_and(Option::is_some) {
            refuse!("the action profile {} has no group {group}", self.program.profiles[profile as usize].name);
        }
        Ok(())
    }

    /// Whether an entry or a default action uses this member or group.
    fn is_used(&self, profile: u32, target: &Target) -> bool {
        let tables = self.program.tables.iter().zip(&self.state.tables);
        let mut of = tables.filter(|(table, _)| table.profile == Some(profile));
        of.any(|(_, rows)| {
            rows.default_target.as_ref() == Some(target) || rows.entries.iter().any(|row| row.entry.target == *target)
        })
    }

    /// Refuses rates that do not fit the meter array: a wrong number of rates, or a committed rate above the peak rate.
    pub(crate) fn check_rates(&self, array: usize, rates: &[Rate]) -> Result<()> {
        let known = &self.program.meters[array];
        if rates.len() != known.rates as usize {
            refuse!("{} has {} rates, and {} are given", known.name, known.rates, rates.len());
        }
        if let Some(pair) = rates.windows(2).find(|pair| pair[0].per_us > pair[1].per_us) {
            let [low, high] = [pair[0].per_us, pair[1].per_us];
            refuse!("{}: the committed rate {low} is above the peak rate {high} (RFC 2698, section 2)", known.name);
        }
        Ok(())
    }
}
