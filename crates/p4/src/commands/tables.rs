//! Commands for table entries, and for members and groups of action profiles.

use super::{Answer, Commands, argument, matched, named, narrow, number, small};
use crate::entries::{call, entry};
use crate::error::{Error, Result, refuse};
use crate::program::{Call, Table, Target};
use crate::run::needs_priority;

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

    pub(super) fn table_set_default(&mut self, of: &[&str]) -> Answer {
        let (number, table) = self.table(of)?;
        let call = self.call(table, argument(of, 1)?, of.get(2..).unwrap_or_default())?;
        self.set_default(number, Some(Target::Call(call)))?;
        Ok(None)
    }

    pub(super) fn table_reset_default(&mut self, of: &[&str]) -> Answer {
        let (number, _) = self.table(of)?;
        self.set_default(number, None)?;
        Ok(None)
    }

    pub(super) fn table_modify(&mut self, of: &[&str]) -> Answer {
        let (number, table) = self.table(of)?;
        let handle = narrow(small(argument(of, 2)?)?)?;
        let values: Vec<_> = of[3..].iter().copied().filter(|&word| word != "=>").collect();
        let call = self.call(table, argument(of, 1)?, &values)?;
        self.modify(number, handle, Target::Call(call))?;
        Ok(None)
    }

    pub(super) fn table_delete(&mut self, of: &[&str]) -> Answer {
        let (number, _) = self.table(of)?;
        self.delete(number, narrow(small(argument(of, 1)?)?)?)?;
        Ok(None)
    }

    pub(super) fn table_clear(&mut self, of: &[&str]) -> Answer {
        let (number, _) = self.table(of)?;
        self.clear(number)?;
        Ok(None)
    }

    pub(super) fn table_count(&mut self, of: &[&str]) -> Result<String> {
        let (number, _) = self.table(of)?;
        Ok(self.state.tables[number as usize].entries.len().to_string())
    }

    fn profile(&self, of: &[&str]) -> Result<u32> {
        named(&self.program.profiles, "action profile", of).map(|profile| profile as u32)
    }

    fn member_call(&self, profile: u32, of: &[&str]) -> Result<Call> {
        let mut tables = self.program.tables.iter().filter(|table| table.profile == Some(profile));
        let Some(table) = tables.next() else { refuse!("no table uses the action profile") };
        self.call(table, argument(of, 0)?, of.get(1..).unwrap_or_default())
    }

    pub(super) fn create_member(&mut self, of: &[&str]) -> Result<String> {
        let profile = self.profile(of)?;
        let call = self.member_call(profile, of.get(1..).unwrap_or_default())?;
        Ok(format!("member {}", self.add_member(profile, call)))
    }

    pub(super) fn modify_member(&mut self, of: &[&str]) -> Answer {
        let profile = self.profile(of)?;
        let member = small(argument(of, 2)?)?;
        let words: Vec<_> = of[1..2].iter().chain(&of[3..]).copied().collect();
        let call = self.member_call(profile, &words)?;
        self.set_member(profile, member, call)?;
        Ok(None)
    }

    pub(super) fn remove_member(&mut self, of: &[&str]) -> Answer {
        let (profile, member) = (self.profile(of)?, small(argument(of, 1)?)?);
        self.delete_member(profile, member, member)?;
        Ok(None)
    }

    pub(super) fn create_group(&mut self, of: &[&str]) -> Result<String> {
        let profile = self.profile(of)?;
        Ok(format!("group {}", self.add_group(profile, Vec::new())?))
    }

    pub(super) fn remove_group(&mut self, of: &[&str]) -> Answer {
        let (profile, group) = (self.profile(of)?, small(argument(of, 1)?)?);
        self.delete_group(profile, group, group)?;
        Ok(None)
    }

    pub(super) fn group_member(&mut self, of: &[&str], is_added: bool) -> Answer {
        let (profile, member, group) = (self.profile(of)?, small(argument(of, 1)?)?, small(argument(of, 2)?)?);
        self.change_group(profile, group, member, is_added)?;
        Ok(None)
    }

    /// The member or group named by `word`.
    fn target(word: &str, is_group: bool) -> Result<Target> {
        let handle = narrow(small(word)?)?;
        Ok(if is_group { Target::Group(handle) } else { Target::Member(handle) })
    }

    pub(super) fn indirect_add(&mut self, of: &[&str], is_group: bool) -> Result<String> {
        let (number, table) = self.table(of)?;
        let (matches, rest) = self.key(table, of.get(1..).unwrap_or_default())?;
        let target = Self::target(argument(rest, 0)?, is_group)?;
        let priority = match rest.get(1) {
            Some(word) if needs_priority(table) => small(word)? as i64,
            None if needs_priority(table) => refuse!("an entry of {} needs a priority", table.name),
            _ => 0,
        };
        let made = entry(table, &matches, priority, target)?;
        Ok(format!("{} entry {}", table.name, self.insert(number, made)?))
    }

    pub(super) fn indirect_default(&mut self, of: &[&str], is_group: bool) -> Answer {
        let (number, _) = self.table(of)?;
        self.set_default(number, Some(Self::target(argument(of, 1)?, is_group)?))?;
        Ok(None)
    }
}
