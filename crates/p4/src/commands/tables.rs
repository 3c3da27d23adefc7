//! Entries of tables, members and groups of action profiles.

use super::{Answer, Commands, argument, matched, named, narrow, number, small};
use crate::entries::{call, entry};
use crate::error::{Error, Result, refuse};
use crate::program::{Call, Entry, Table, Target};
use crate::run::needs_priority;
use crate::state::ProfileState;

/// What has this handle in a profile, unless it was deleted.
fn known<'s, T>(of: &'s mut [Option<T>], kind: &str, handle: u64) -> Result<&'s mut Option<T>> {
    match of.get_mut(handle as usize) {
        Some(known @ Some(_)) => Ok(known),
        _ => refuse!("the action profile has no {kind} {handle}"),
    }
}

/// Refused: a table whose entries are the program's.
fn can_delete(table: &Table) -> Result<()> {
    if !table.entries.is_empty() {
        refuse!("the table {} has const entries: none can be deleted", table.name);
    }
    Ok(())
}

impl<'a> Commands<'a> {
    fn table(&self, of: &[&str]) -> Result<(u32, &'a Table)> {
        let name = argument(of, 0)?;
        match self.program.table(name) {
            Some(number) => Ok((number, &self.program.tables[number as usize])),
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
        let parameters = &self.program.actions[number as usize].parameters;
        let widths = parameters.iter().map(|(_, slot)| slot.width).chain(std::iter::repeat(64));
        let values: Result<Vec<_>> =
            values.iter().zip(widths).map(|(value, width)| self::number(value, width)).collect();
        call(self.program, number, &values?)
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
        let (number, table) = self.table(of)?;
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
        let (number, table) = self.table(of)?;
        let call = self.call(table, argument(of, 1)?, of.get(2..).unwrap_or_default())?;
        if table.is_default_constant {
            refuse!("the default action of {} is const", table.name);
        }
        self.state.tables[number as usize].default = Some(call);
        Ok(None)
    }

    pub(super) fn table_reset_default(&mut self, of: &[&str]) -> Answer {
        let (number, table) = self.table(of)?;
        self.state.tables[number as usize].default = table.default.clone();
        Ok(None)
    }

    pub(super) fn table_modify(&mut self, of: &[&str]) -> Answer {
        let (number, table) = self.table(of)?;
        let handle = narrow(small(argument(of, 2)?)?)?;
        let values: Vec<_> = of[3..].iter().copied().filter(|&word| word != "=>").collect();
        let call = self.call(table, argument(of, 1)?, &values)?;
        match self.state.tables[number as usize].row(handle) {
            Some(row) => row.entry.target = Target::Call(call),
            None => refuse!("the table {} has no entry {handle}", table.name),
        }
        Ok(None)
    }

    pub(super) fn table_delete(&mut self, of: &[&str]) -> Answer {
        let (number, table) = self.table(of)?;
        let handle = narrow(small(argument(of, 1)?)?)?;
        can_delete(table)?;
        if !self.state.tables[number as usize].remove(table, handle) {
            refuse!("the table {} has no entry {handle}", table.name);
        }
        Ok(None)
    }

    pub(super) fn table_clear(&mut self, of: &[&str]) -> Answer {
        let (number, table) = self.table(of)?;
        can_delete(table)?;
        self.state.tables[number as usize].clear(table);
        Ok(None)
    }

    pub(super) fn table_count(&mut self, of: &[&str]) -> Result<String> {
        let (number, _) = self.table(of)?;
        Ok(self.state.tables[number as usize].entries.len().to_string())
    }

    fn profile(&mut self, of: &[&str]) -> Result<(u32, &mut ProfileState)> {
        let profile = named(&self.program.profiles, "action profile", of)?;
        Ok((profile as u32, &mut self.state.profiles[profile]))
    }

    fn member_call(&self, profile: u32, of: &[&str]) -> Result<Call> {
        let mut tables = self.program.tables.iter().filter(|table| table.profile == Some(profile));
        let Some(table) = tables.next() else { refuse!("no table uses the action profile") };
        self.call(table, argument(of, 0)?, of.get(1..).unwrap_or_default())
    }

    pub(super) fn create_member(&mut self, of: &[&str]) -> Result<String> {
        let (profile, _) = self.profile(of)?;
        let call = self.member_call(profile, of.get(1..).unwrap_or_default())?;
        let members = &mut self.state.profiles[profile as usize].members;
        members.push(Some(call));
        Ok(format!("member {}", members.len() - 1))
    }

    pub(super) fn modify_member(&mut self, of: &[&str]) -> Answer {
        let (profile, _) = self.profile(of)?;
        let member = small(argument(of, 2)?)?;
        let words: Vec<_> = of[1..2].iter().chain(&of[3..]).copied().collect();
        let call = self.member_call(profile, &words)?;
        *known(&mut self.state.profiles[profile as usize].members, "member", member)? = Some(call);
        Ok(None)
    }

    pub(super) fn delete_member(&mut self, of: &[&str]) -> Answer {
        let (_, state) = self.profile(of)?;
        let member = small(argument(of, 1)?)?;
        if state.groups.iter().flatten().flatten().any(|&other| u64::from(other) == member) {
            refuse!("the member {member} is in a group");
        }
        *known(&mut state.members, "member", member)? = None;
        Ok(None)
    }

    pub(super) fn create_group(&mut self, of: &[&str]) -> Result<String> {
        let (_, state) = self.profile(of)?;
        state.groups.push(Some(Vec::new()));
        Ok(format!("group {}", state.groups.len() - 1))
    }

    pub(super) fn delete_group(&mut self, of: &[&str]) -> Answer {
        let (_, state) = self.profile(of)?;
        *known(&mut state.groups, "group", small(argument(of, 1)?)?)? = None;
        Ok(None)
    }

    pub(super) fn group_member(&mut self, of: &[&str], is_added: bool) -> Answer {
        let (_, state) = self.profile(of)?;
        let (member, group) = (narrow(small(argument(of, 1)?)?)?, small(argument(of, 2)?)? as usize);
        known(&mut state.members, "member", member.into())?;
        let Some(Some(members)) = state.groups.get_mut(group) else { refuse!("the profile has no group {group}") };
        members.retain(|&other| other != member);
        if is_added {
            members.push(member);
            members.sort_unstable();
        }
        Ok(None)
    }

    /// The member or group that the word names.
    fn target(&mut self, table: &Table, word: &str, is_group: bool) -> Result<Target> {
        let Some(profile) = table.profile else { refuse!("the table {} has no action profile", table.name) };
        let (handle, state) = (narrow(small(word)?)?, &mut self.state.profiles[profile as usize]);
        if is_group {
            known(&mut state.groups, "group", handle.into())?;
            return Ok(Target::Group(handle));
        }
        known(&mut state.members, "member", handle.into())?;
        Ok(Target::Member(handle))
    }

    pub(super) fn indirect_add(&mut self, of: &[&str], is_group: bool) -> Result<String> {
        let (number, table) = self.table(of)?;
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
        let (number, table) = self.table(of)?;
        let target = self.target(table, argument(of, 1)?, is_group)?;
        self.state.tables[number as usize].default_target = Some(target);
        Ok(None)
    }
}
