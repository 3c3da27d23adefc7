//! Commands for table entries, and for members and groups of action profiles.

use super::{Commands, argument, matched, named, narrow, number, small};
use crate::entries::{call, entry};
use crate::error::{Error, Result, refuse};
use crate::program::{Call, Table, Target};
use crate::run::needs_priority;

impl<'a> Commands<'a> {
    pub(super) fn table(&self, of: &[&str]) -> Result<(u32, &'a Table)> {
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

    /// The match fields of a key, and the words after "=>".
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

    pub(super) fn table_set_default(&mut self, of: &[&str]) -> Result<()> {
        let (number, table) = self.table(of)?;
        let call = self.call(table, argument(of, 1)?, of.get(2..).unwrap_or_default())?;
        self.set_default(number, Some(Target::Call(call)))
    }

    pub(super) fn table_modify(&mut self, of: &[&str]) -> Result<()> {
        let (number, table) = self.table(of)?;
        let handle = narrow(small(argument(of, 2)?)?)?;
        let values: Vec<_> = of[3..].iter().copied().filter(|&word| word != "=>").collect();
        let call = self.call(table, argument(of, 1)?, &values)?;
        self.modify(number, handle, Target::Call(call))
    }

    pub(super) fn profile(&self, of: &[&str]) -> Result<u32> {
        named(&self.program.profiles, "action profile", of).map(|profile| profile as u32)
    }

    pub(super) fn member_call(&self, profile: u32, of: &[&str]) -> Result<Call> {
        let mut tables = self.program.tables.iter().filter(|table| table.profile == Some(profile));
        let Some(table) = tables.next() else { refuse!("no table uses the action profile") };
        self.call(table, argument(of, 0)?, of.get(1..).unwrap_or_default())
    }

    pub(super) fn modify_member(&mut self, of: &[&str]) -> Result<()> {
        let profile = self.profile(of)?;
        let member = small(argument(of, 2)?)?;
        let words: Vec<_> = of[1..2].iter().chain(&of[3..]).copied().collect();
        let call = self.member_call(profile, &words)?;
        self.set_member(profile, member, call)
    }

    pub(super) fn group_member(&mut self, of: &[&str], is_added: bool) -> Result<()> {
        let (profile, member, group) = (self.profile(of)?, small(argument(of, 1)?)?, small(argument(of, 2)?)?);
        self.change_group(profile, group, member, is_added)
    }

    pub(super) fn indirect_add(&mut self, of: &[&str], target: fn(u32) -> Target) -> Result<String> {
        let (number, table) = self.table(of)?;
        let (matches, rest) = self.key(table, of.get(1..).unwrap_or_default())?;
        let target = target(narrow(small(argument(rest, 0)?)?)?);
        let priority = match rest.get(1) {
            Some(word) if needs_priority(table) => small(word)? as i64,
            None if needs_priority(table) => refuse!("an entry of {} needs a priority", table.name),
            _ => 0,
        };
        let made = entry(table, &matches, priority, target)?;
        Ok(format!("{} entry {}", table.name, self.insert(number, made)?))
    }

    pub(super) fn indirect_default(&mut self, of: &[&str], target: fn(u32) -> Target) -> Result<()> {
        let (number, _) = self.table(of)?;
        self.set_default(number, Some(target(narrow(small(argument(of, 1)?)?)?)))
    }
}
