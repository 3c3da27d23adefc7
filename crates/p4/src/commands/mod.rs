//! The control plane in the language of BMv2's simple_switch_CLI, one command per line.

mod arrays;
mod tables;

use crate::error::{Error, Result, refuse};
use crate::program::{Named, Program, find};
use crate::replication::Mirror;
use crate::state::State;
use crate::values::{matched, number, small};

type Answer = Result<Option<String>>;

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

    pub fn line(&mut self, line: &str) -> Answer {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<_> = line.split_whitespace().collect();
        let Some((&name, of)) = words.split_first() else { return Ok(None) };
        match name {
            "table_add" => self.table_add(of).map(Some),
            "table_set_default" => self.table_set_default(of),
            "table_reset_default" => self.table_reset_default(of),
            "table_modify" => self.table_modify(of),
            "table_delete" => self.table_delete(of),
            "table_clear" => self.table_clear(of),
            "table_num_entries" => self.table_count(of).map(Some),
            "act_prof_create_member" => self.create_member(of).map(Some),
            "act_prof_modify_member" => self.modify_member(of),
            "act_prof_delete_member" => self.remove_member(of),
            "act_prof_create_group" => self.create_group(of).map(Some),
            "act_prof_delete_group" => self.remove_group(of),
            "act_prof_add_member_to_group" => self.group_member(of, true),
            "act_prof_remove_member_from_group" => self.group_member(of, false),
            "table_indirect_add" => self.indirect_add(of, false).map(Some),
            "table_indirect_add_with_group" => self.indirect_add(of, true).map(Some),
            "table_indirect_set_default" => self.indirect_default(of, false),
            "table_indirect_set_default_with_group" => self.indirect_default(of, true),
            "register_read" => self.register_read(of).map(Some),
            "register_write" => self.register_write(of),
            "register_reset" => self.register_reset(of),
            "counter_read" => self.counter_read(of).map(Some),
            "counter_write" => self.counter_write(of),
            "counter_reset" => self.counter_reset(of),
            "meter_set_rates" => self.meter_set_rates(of),
            "meter_array_set_rates" => self.meter_array_set_rates(of),
            "meter_get_rates" => self.meter_get_rates(of).map(Some),
            "pvs_add" => self.value_set_add(of),
            "pvs_remove" => self.value_set_remove(of),
            "pvs_clear" => self.value_set_clear(of),
            _ => self.replication(name, of),
        }
    }

    /// Commands for mirroring and multicast.
    fn replication(&mut self, name: &str, of: &[&str]) -> Answer {
        let small = |place: usize| self::argument(of, place).and_then(small);
        let ports = || of.iter().skip(1).map(|port| crate::values::small(port)).collect::<Result<Vec<_>>>();
        let to = &mut self.state.replication;
        match name {
            "mirroring_add" => to.set_session(small(0)?, Mirror::Port(narrow(small(1)?)?))?,
            "mirroring_add_mc" => to.set_session(small(0)?, Mirror::Group(narrow(small(1)?)?))?,
            "mirroring_delete" => to.remove_session(small(0)?)?,
            "mirroring_get" => return Ok(Some(format!("{:?}", to.session(narrow(small(0)?)?)))),
            "mc_mgrp_create" => to.add_group(small(0)?)?,
            "mc_mgrp_destroy" => to.remove_group(small(0)?)?,
            "mc_node_create" => return Ok(Some(format!("node {}", to.add_node(small(0)?, &ports()?)?))),
            "mc_node_update" => to.set_node(small(0)?, &ports()?)?,
            "mc_node_associate" => to.associate(small(0)?, small(1)?)?,
            "reset_state" => *self.state = State::new(self.program, self.state.random),
            other => refuse!("the command \"{other}\" is not supported"),
        }
        Ok(None)
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

fn narrow(value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::new(format!("{value} has more than 32 bits")))
}
