//! The control plane in the language of BMv2's simple_switch_CLI, one command per line.

mod arrays;
mod tables;

use crate::error::{Error, Result, refuse};
use crate::program::{Named, Program, Target, find};
use crate::replication::Mirror;
use crate::state::State;
use crate::values::{matched, number, small};

pub struct Commands<'a> {
    pub program: &'a Program,
    pub state: &'a mut State,
    /// Present time in ns; meters need it.
    pub now_ns: u64,
}

impl Commands<'_> {
    /// Executes all lines of `text`, except empty ones and comments ("#"), and returns their output. An error names
    /// `file` and the line.
    pub fn run(&mut self, text: &str, file: &str) -> Result<Vec<String>> {
        let mut answers = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let answer = self.line(line).map_err(|error| error.at(Some(format!("{file}:{}", number + 1))))?;
            answers.extend(answer);
        }
        Ok(answers)
    }

    pub fn line(&mut self, line: &str) -> Result<Option<String>> {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<_> = line.split_whitespace().collect();
        let Some((&name, of)) = words.split_first() else { return Ok(None) };
        Ok(Some(match name {
            "table_add" => self.table_add(of)?,
            "table_num_entries" => self.state.tables[self.table(of)?.0 as usize].entries.len().to_string(),
            "act_prof_create_member" => {
                let profile = self.profile(of)?;
                let call = self.member_call(profile, of.get(1..).unwrap_or_default())?;
                format!("member {}", self.add_member(profile, call))
            }
            "act_prof_create_group" => format!("group {}", self.add_group(self.profile(of)?, Vec::new())?),
            "table_indirect_add" => self.indirect_add(of, Target::Member)?,
            "table_indirect_add_with_group" => self.indirect_add(of, Target::Group)?,
            "register_read" => self.register_read(of)?,
            "counter_read" => self.counter_read(of)?,
            "meter_get_rates" => self.meter_get_rates(of)?,
            "mirroring_get" => {
                format!("{:?}", self.state.replication.session(narrow(small(argument(of, 0)?)?)?))
            }
            "mc_node_create" => {
                format!("node {}", self.state.replication.add_node(small(argument(of, 0)?)?, &ports(of)?)?)
            }
            _ => return self.change(name, of).map(|()| None),
        }))
    }

    /// Commands without an answer.
    fn change(&mut self, name: &str, of: &[&str]) -> Result<()> {
        let small = |place: usize| argument(of, place).and_then(small);
        let to = &mut self.state.replication;
        match name {
            "table_set_default" => self.table_set_default(of),
            "table_reset_default" => self.set_default(self.table(of)?.0, None),
            "table_modify" => self.table_modify(of),
            "table_delete" => self.delete(self.table(of)?.0, narrow(small(1)?)?),
            "table_clear" => self.clear(self.table(of)?.0),
            "act_prof_modify_member" => self.modify_member(of),
            "act_prof_delete_member" => {
                let (profile, member) = (self.profile(of)?, small(1)?);
                self.delete_member(profile, member, member)
            }
            "act_prof_delete_group" => {
                let (profile, group) = (self.profile(of)?, small(1)?);
                self.delete_group(profile, group, group)
            }
            "act_prof_add_member_to_group" => self.group_member(of, true),
            "act_prof_remove_member_from_group" => self.group_member(of, false),
            "table_indirect_set_default" => self.indirect_default(of, Target::Member),
            "table_indirect_set_default_with_group" => self.indirect_default(of, Target::Group),
            "register_write" => self.register_write(of),
            "register_reset" => {
                let array = self.register(of)?;
                self.state.registers[array].words.fill(0);
                Ok(())
            }
            "counter_write" => self.counter_write(of),
            "counter_reset" => self.counter_reset(of),
            "meter_set_rates" => self.meter_set_rates(of),
            "meter_array_set_rates" => self.meter_array_set_rates(of),
            "pvs_add" => self.value_set_add(of),
            "pvs_remove" => {
                let (set, key) = self.member(of)?;
                self.state.value_sets[set].retain(|member| Some(member) != key.as_ref());
                Ok(())
            }
            "pvs_clear" => {
                let (set, _) = self.member(&of[..1.min(of.len())])?;
                self.state.value_sets[set].clear();
                Ok(())
            }
            "mirroring_add" => to.set_session(small(0)?, Mirror::Port(narrow(small(1)?)?)),
            "mirroring_add_mc" => to.set_session(small(0)?, Mirror::Group(narrow(small(1)?)?)),
            "mirroring_delete" => to.remove_session(small(0)?),
            "mc_mgrp_create" => to.add_group(small(0)?),
            "mc_mgrp_destroy" => to.remove_group(small(0)?),
            "mc_node_update" => to.set_node(small(0)?, &ports(of)?),
            "mc_node_associate" => to.associate(small(0)?, small(1)?),
            "reset_state" => {
                *self.state = State::new(self.program, self.state.random);
                Ok(())
            }
            other => refuse!("the command \"{other}\" is not supported"),
        }
    }
}

/// The index of the object named by the first argument.
pub(crate) fn named<T: Named>(all: &[T], kind: &str, of: &[&str]) -> Result<usize> {
    let name = argument(of, 0)?;
    match find(all, name) {
        Some(place) => Ok(place as usize),
        None => refuse!("there is no {kind} {name}"),
    }
}

fn argument<'a>(of: &[&'a str], place: usize) -> Result<&'a str> {
    of.get(place).copied().ok_or_else(|| Error::new(format!("the command lacks its argument {}", place + 1)))
}

/// The ports after the first argument.
fn ports(of: &[&str]) -> Result<Vec<u64>> {
    of.iter().skip(1).map(|port| small(port)).collect()
}

fn narrow(value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::new(format!("{value} has more than 32 bits")))
}
