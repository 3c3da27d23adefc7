//! Entries of tables, members and groups of action profiles.

use super::{Commands, argument, matched, narrow, number, small};
use crate::entries::{call, entry};
use crate::error::{Error, Result, refuse};
use crate::program::{Call, Entry, Table, Target};
use crate::run::needs_priority;

type Answer = Result<Option<String>>;

impl Commands<'_> {
    fn table(&self, of: &[&str]) -> Result<u32> {
        let name = argument(of, 0)?;
        match self.program.table(name) {
            Some(table) => Ok(table),
            None => {
                let names: Vec<_> = self.program.tables.iter().map(|table| table.name.as_str()).collect();
                refuse!("there is no table {name}; the program has {}", names.join(", "))
            }
        }
    }

    fn call(&self, table: &Table, action: &str, values: &[&str]) -> Result<Call> {
        let Some(number) = self.program.action(&table.actions, action) else {
            let names = table.actions.iter().map(|&action| self.program.actions[action as usize].name.as_str());
            let names: Vec<_> = names.collect();
            refuse!("the table {} has no action {action}, but {}", table.name, names.join(", "));
        };
        self.values(number, values)
    }

    fn values(&self, action: u32, values: &[&str]) -> Result<Call> {
        let parameters = &self.program.actions[action as usize].parameters;
        let widths = parameters.iter().map(|(_, slot)| slot.width).chain(std::iter::repeat(64));
        let values: Result<Vec<_>> = values.iter().zip(widths).map(|(value, width)| number(value, width)).collect();
        call(self.program, action, &values?)
    }

    /// The words of a key, and what follows "=>".
    fn key<'w>(&self, table: &Table, of: &'w [&'w str]) -> Result<(Vec<crate::entries::Match>, &'w [&'w str])> {
        let arrow = of.iter().position(|&word| word == "=>");
        let Some(arrow) = arrow else { refuse!("the command lacks \"=>\" between key and values") };
        let (key, rest) = (&of[..arrow], &of[arrow + 1..]);
        if key.len() != table.key.len() {
            let names: Vec<_> = table.key.iter().map(|key| key.name.as_str()).collect();
            let (count, given) = (table.key.len(), key.len());
            refuse!("the key of {} has {count} fields ({}), and {given} are given", table.name, names.join(", "));
        }
        let matches: Result<Vec<_>> = key.iter().zip(&table.key).map(|(text, key)| matched(text, key)).collect();
        Ok((matches?, rest))
    }

    /// Adds an entry to a table and gives its handle.
    pub fn insert(&mut self, number: u32, made: Entry) -> Result<u32> {
        let table = &self.program.tables[number as usize];
        let rows = &mut self.state.tables[number as usize];
        if !table.entries.is_empty() {
            refuse!("the table {} has const entries: no other can be added", table.name);
        }
        if rows.entries.len() as u64 >= table.size {
            refuse!("the table {} is full: it has room for {} entries", table.name, table.size);
        }
        if let Some(handle) = rows.same_key(&made) {
            refuse!("the table {} has such an entry already: its handle is {handle}", table.name);
        }
        Ok(rows.insert(table, made))
    }

    pub(super) fn table_add(&mut self, of: &[&str]) -> Result<String> {
        let number = self.table(of)?;
        let table = &self.program.tables[number as usize];
        let (matches, mut rest) = self.key(table, of.get(2..).unwrap_or_default())?;
        let mut priority = 0;
        if needs_priority(table) {
            let Some((last, values)) = rest.split_last() else {
                refuse!("an entry of {} needs a priority", table.name)
            };
            priority = last.parse().map_err(|_| Error::new(format!("\"{last}\" is no priority")))?;
            rest = values;
        }
        if table.profile.is_some() {
            refuse!("the table {} takes members of a profile: use table_indirect_add", table.name);
        }
        let call = self.call(table, argument(of, 1)?, rest)?;
        let made = entry(table, &matches, priority, Target::Call(call))?;
        Ok(format!("{} entry {}", table.name, self.insert(number, made)?))
    }

    pub(super) fn table_set_default(&mut self, of: &[&str]) -> Answer {
        let number = self.table(of)?;
        let table = &self.program.tables[number as usize];
        let call = self.call(table, argument(of, 1)?, of.get(2..).unwrap_or_default())?;
        if table.is_default_constant {
            refuse!("the default action of {} is const", table.name);
        }
        self.state.tables[number as usize].default = Some(call);
        Ok(None)
    }

    pub(super) fn table_reset_default(&mut self, of: &[&str]) -> Answer {
        let number = self.table(of)? as usize;
        self.state.tables[number].default = self.program.tables[number].default.clone();
        Ok(None)
    }

    pub(super) fn table_modify(&mut self, of: &[&str]) -> Answer {
        let number = self.table(of)?;
        let table = &self.program.tables[number as usize];
        let handle = narrow(small(argument(of, 2)?)?)?;
        let values: Vec<_> = of[3..].iter().copied().filter(|&word| word != "=>").collect();
        let call = self.call(table, argument(of, 1)?, &values)?;
        let row = self.state.tables[number as usize].entries.iter_mut().find(|row| row.handle == handle);
        match row {
            Some(row) => row.entry.target = Target::Call(call),
            None => refuse!("the table {} has no entry {handle}", table.name),
        }
        Ok(None)
    }

    pub(super) fn table_delete(&mut self, of: &[&str]) -> Answer {
        let number = self.table(of)?;
        let table = &self.program.tables[number as usize];
        let handle = narrow(small(argument(of, 1)?)?)?;
        if !table.entries.is_empty() {
            refuse!("the table {} has const entries: none can be deleted", table.name);
        }
        if !self.state.tables[number as usize].remove(table, handle) {
            refuse!("the table {} has no entry {handle}", table.name);
        }
        Ok(None)
    }

    pub(super) fn table_clear(&mut self, of: &[&str]) -> Answer {
        let number = self.table(of)?;
        let table = &self.program.tables[number as usize];
        if !table.entries.is_empty() {
            refuse!("the table {} has const entries: none can be deleted", table.name);
        }
        self.state.tables[number as usize].clear(table);
        Ok(None)
    }

    pub(super) fn table_count(&mut self, of: &[&str]) -> Result<String> {
        let number = self.table(of)? as usize;
        Ok(self.state.tables[number].entries.len().to_string())
    }

    fn profile(&self, of: &[&str]) -> Result<u32> {
        let name = argument(of, 0)?;
        match crate::program::find(&self.program.profiles, name, |profile| &profile.name) {
            Some(profile) => Ok(profile),
            None => refuse!("there is no action profile {name}"),
        }
    }

    fn member_call(&self, profile: u32, of: &[&str]) -> Result<Call> {
        let mut tables = self.program.tables.iter().filter(|table| table.profile == Some(profile));
        let Some(table) = tables.next() else { refuse!("no table uses the action profile") };
        self.call(table, argument(of, 0)?, of.get(1..).unwrap_or_default())
    }

    pub(super) fn create_member(&mut self, of: &[&str]) -> Result<String> {
        let profile = self.profile(of)?;
        let call = self.member_call(profile, of.get(1..).unwrap_or_default())?;
        let members = &mut self.state.profiles[profile as usize].members;
        members.push(Some(call));
        Ok(format!("member {}", members.len() - 1))
    }

    pub(super) fn modify_member(&mut self, of: &[&str]) -> Answer {
        let profile = self.profile(of)?;
        let member = small(argument(of, 2)?)? as usize;
        let words: Vec<_> = of[1..2].iter().chain(&of[3..]).copied().collect();
        let call = self.member_call(profile, &words)?;
        match self.state.profiles[profile as usize].members.get_mut(member) {
            Some(known @ Some(_)) => *known = Some(call),
            _ => refuse!("the action profile has no member {member}"),
        }
        Ok(None)
    }

    pub(super) fn delete_member(&mut self, of: &[&str]) -> Answer {
        let profile = self.profile(of)? as usize;
        let member = small(argument(of, 1)?)?;
        let state = &mut self.state.profiles[profile];
        if state.groups.iter().flatten().flatten().any(|&other| u64::from(other) == member) {
            refuse!("the member {member} is in a group");
        }
        match state.members.get_mut(member as usize) {
            Some(known @ Some(_)) => *known = None,
            _ => refuse!("the action profile has no member {member}"),
        }
        Ok(None)
    }

    pub(super) fn create_group(&mut self, of: &[&str]) -> Result<String> {
        let profile = self.profile(of)? as usize;
        let groups = &mut self.state.profiles[profile].groups;
        groups.push(Some(Vec::new()));
        Ok(format!("group {}", groups.len() - 1))
    }

    pub(super) fn delete_group(&mut self, of: &[&str]) -> Answer {
        let profile = self.profile(of)? as usize;
        let group = small(argument(of, 1)?)? as usize;
        match self.state.profiles[profile].groups.get_mut(group) {
            Some(known @ Some(_)) => *known = None,
            _ => refuse!("the action profile has no group {group}"),
        }
        Ok(None)
    }

    pub(super) fn group_member(&mut self, of: &[&str], is_added: bool) -> Answer {
        let profile = self.profile(of)? as usize;
        let (member, group) = (narrow(small(argument(of, 1)?)?)?, small(argument(of, 2)?)? as usize);
        let state = &mut self.state.profiles[profile];
        if !matches!(state.members.get(member as usize), Some(Some(_))) {
            refuse!("the action profile has no member {member}");
        }
        let Some(Some(members)) = state.groups.get_mut(group) else { refuse!("the profile has no group {group}") };
        members.retain(|&other| other != member);
        if is_added {
            members.push(member);
            members.sort_unstable();
        }
        Ok(None)
    }

    /// The member or group that the word names.
    fn target(&self, table: &Table, word: &str, is_group: bool) -> Result<Target> {
        let Some(profile) = table.profile else { refuse!("the table {} has no action profile", table.name) };
        let (handle, state) = (narrow(small(word)?)?, &self.state.profiles[profile as usize]);
        let exists = if is_group {
            matches!(state.groups.get(handle as usize), Some(Some(_)))
        } else {
            matches!(state.members.get(handle as usize), Some(Some(_)))
        };
        match (exists, is_group) {
            (true, true) => Ok(Target::Group(handle)),
            (true, false) => Ok(Target::Member(handle)),
            (false, _) => refuse!("the action profile has no {} {handle}", if is_group { "group" } else { "member" }),
        }
    }

    pub(super) fn indirect_add(&mut self, of: &[&str], is_group: bool) -> Result<String> {
        let number = self.table(of)?;
        let table = &self.program.tables[number as usize];
        let (matches, rest) = self.key(table, of.get(1..).unwrap_or_default())?;
        let target = self.target(table, argument(rest, 0)?, is_group)?;
        let priority = match rest.get(1) {
            Some(word) if needs_priority(table) => small(word)? as i64,
            None if needs_priority(table) => refuse!("an entry of {} needs a priority", table.name),
            _ => 0,
        };
        let made = entry(table, &matches, priority, target)?;
        Ok(format!("{} entry {}", table.name, self.insert(number, made)?))
    }

    pub(super) fn indirect_default(&mut self, of: &[&str], is_group: bool) -> Answer {
        let number = self.table(of)?;
        let table = &self.program.tables[number as usize];
        let target = self.target(table, argument(of, 1)?, is_group)?;
        self.state.tables[number as usize].default_target = Some(target);
        Ok(None)
    }
}
