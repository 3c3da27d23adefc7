//! The control plane, in the language of BMv2's simple_switch_CLI: one command a line.

mod arrays;
mod tables;

use crate::error::{Error, Result, refuse};
use crate::program::{Named, Program, find};
use crate::state::{Mirror, Replica, State};
use crate::values::{matched, number, small};

type Answer = Result<Option<String>>;

/// A command is carried out on this program and its state.
pub struct Commands<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its state.
    pub state: &'a mut State,
    /// The time, from which meters count.
    pub now_ns: u64,
}

impl Commands<'_> {
    /// Carries out all lines of `text`; empty ones and comments ("#") are left out. An error names `file` and line.
    /// What commands answer is returned.
    pub fn run(&mut self, text: &str, file: &str) -> Result<Vec<String>> {
        let mut answers = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let answer = self.line(line).map_err(|error| error.at(Some(format!("{file}:{}", number + 1))))?;
            answers.extend(answer);
        }
        Ok(answers)
    }

    /// Carries out one line.
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
            "act_prof_delete_member" => self.delete_member(of),
            "act_prof_create_group" => self.create_group(of).map(Some),
            "act_prof_delete_group" => self.delete_group(of),
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

    /// Mirroring and multicast.
    fn replication(&mut self, name: &str, of: &[&str]) -> Answer {
        let small = |place: usize| self::argument(of, place).and_then(small);
        let narrow = |place: usize| small(place).and_then(narrow);
        match name {
            "mirroring_add" => {
                self.state.mirrors.insert(narrow(0)?, Mirror::Port(narrow(1)?));
            }
            "mirroring_add_mc" => {
                self.state.mirrors.insert(narrow(0)?, Mirror::Group(narrow(1)?));
            }
            "mirroring_delete" => {
                self.state.mirrors.remove(&narrow(0)?);
            }
            "mirroring_get" => return Ok(Some(format!("{:?}", self.state.mirror(narrow(0)?)))),
            "mc_mgrp_create" => {
                let group = narrow(0)?;
                if self.state.groups.contains_key(&group) {
                    refuse!("the multicast group {group} exists already");
                }
                self.state.groups.insert(group, Vec::new());
            }
            "mc_mgrp_destroy" => drop(self.state.groups.remove(&narrow(0)?)),
            "mc_node_create" => {
                let rid = small(0)? as u16;
                let replicas = replicas(rid, &of[1..])?;
                self.state.nodes.push(replicas);
                return Ok(Some(format!("node {}", self.state.nodes.len() - 1)));
            }
            "mc_node_update" => {
                let node = small(0)? as usize;
                let Some(rid) = self.state.nodes.get(node).map(|node| node.first().map_or(0, |first| first.rid)) else {
                    refuse!("there is no multicast node {node}");
                };
                self.state.nodes[node] = replicas(rid, &of[1..])?;
            }
            "mc_node_associate" => {
                let (group, node) = (narrow(0)?, small(1)? as usize);
                let Some(replicas) = self.state.nodes.get(node).cloned() else {
                    refuse!("there is no multicast node {node}");
                };
                match self.state.groups.get_mut(&group) {
                    Some(of) => of.extend(replicas),
                    None => refuse!("there is no multicast group {group}"),
                }
            }
            "reset_state" => *self.state = State::new(self.program, self.state.random),
            other => refuse!("the command \"{other}\" is not supported"),
        }
        Ok(None)
    }
}

fn replicas(rid: u16, ports: &[&str]) -> Result<Vec<Replica>> {
    ports.iter().map(|port| Ok(Replica { rid, port: narrow(small(port)?)? })).collect()
}

/// The place of what the first argument names.
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
