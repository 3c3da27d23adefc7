use super::{Change, Given, Write};
use crate::error::{Error, Result, refuse};
use crate::p4runtime::info::{ProfileInfo, TableInfo};
use crate::p4runtime::schema::{At, Message};
use crate::program::{Call, Table, Target};
use crate::state::ProfileState;

/// Maximum number of places in a group; a member takes as many as its weight.
const PLACES_MAX: i64 = 65_536;

const NO_WATCH: &str = "a member stays in its group whether its port is up or down";

impl<'a> Write<'a> {
    fn profile(&self, id: u32) -> Result<&'a ProfileInfo> {
        match self.info.profiles.get(&id) {
            Some(profile) => Ok(profile),
            None => refuse!(
                "the action_profile_id is {}, which is no action profile of the program",
                self.info.describe(id)
            ),
        }
    }

    fn parts(&mut self, profile: &ProfileInfo) -> (&mut Given, &mut ProfileState) {
        let state = &mut self.commands.state.profiles[profile.profile as usize];
        (self.profiles.entry(profile.profile).or_default(), state)
    }

    /// Checks that a profile is not written both by members and groups and by action sets (P4Runtime, section "One Shot
    /// Action Selector Programming").
    fn by_members(&mut self, profile: &ProfileInfo) -> Result<()> {
        if !self.parts(profile).0.one_shot.is_empty() {
            refuse!("{} has entries with an action set, and may not have members and groups as well", profile.name);
        }
        Ok(())
    }

    /// The action of a member; it must belong to the tables that use the profile.
    fn member_call(&self, profile: &ProfileInfo, action: Option<Message<'_>>) -> Result<Call> {
        let Some(action) = action else { refuse!("the member has no action") };
        let mut tables = profile.tables.iter().filter_map(|id| self.info.tables.get(id));
        let Some(info) = tables.next() else { refuse!("no table takes members of {}", profile.name) };
        self.call(info, &self.commands.program.tables[info.table as usize], action)
    }

    pub(super) fn member(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        let profile = self.profile(of.id("action_profile_id"))?;
        self.by_members(profile)?;
        let (id, name) = (of.id("member_id"), &profile.name);
        if id == 0 {
            refuse!("the member_id is 0 or left out, and must be 1 at least");
        }
        let known = self.parts(profile).0.members.get(&id).copied();
        match (change, known) {
            (Change::Insert, Some(_)) => refuse!("{name} has the member {id} already"),
            (Change::Modify | Change::Delete, None) => refuse!("{name} has no member {id}"),
            (Change::Insert, None) => {
                let call = self.member_call(profile, of.message("action"))?;
                let (given, _) = self.parts(profile);
                if !profile.has_selector && profile.size > 0 && given.members.len() as i64 >= profile.size {
                    refuse!("{name} is full: it has room for {} members", profile.size);
                }
                let handle = self.commands.add_member(profile.profile, call);
                self.parts(profile).0.members.insert(id, handle);
            }
            (Change::Modify, Some(handle)) => {
                let call = self.member_call(profile, of.message("action"))?;
                self.commands.set_member(profile.profile, handle.into(), call)?;
            }
            (Change::Delete, Some(handle)) => {
                self.commands.delete_member(profile.profile, handle.into(), id.into())?;
                self.parts(profile).0.members.remove(&id);
            }
        }
        Ok(())
    }

    pub(super) fn group(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        let profile = self.profile(of.id("action_profile_id"))?;
        self.checked_group(change, of, profile)?;
        if change == Change::Delete {
            return Ok(());
        }
        let (mut places, mut seen) = (Vec::new(), Vec::new());
        for member in of.messages("members") {
            self.add_places(profile, member, &mut seen, &mut places).in_line(member, "ActionProfileGroup")?;
        }
        // In the order of handles, as in BMv2: the order of a request does not change the member that a selector takes.
        places.sort_unstable();
        self.set_group(change, of, profile, (seen.len(), places))
    }

    fn add_places(
        &mut self,
        profile: &ProfileInfo,
        member: Message<'_>,
        seen: &mut Vec<u32>,
        places: &mut Vec<u32>,
    ) -> Result<()> {
        let id = member.id("member_id");
        let Some(&handle) = self.parts(profile).0.members.get(&id) else {
            refuse!("{} has no member {id}", profile.name);
        };
        if seen.contains(&id) {
            refuse!("the member {id} is there twice; its weight says how often it is taken");
        }
        seen.push(id);
        let weight = fits(places.len(), weight(profile, member)?)?;
        places.extend(std::iter::repeat_n(handle, weight));
        Ok(())
    }

    /// Checks a group without its members.
    fn checked_group(&mut self, change: Change, of: Message<'_>, profile: &ProfileInfo) -> Result<()> {
        self.by_members(profile)?;
        let (id, name) = (of.id("group_id"), &profile.name);
        if !profile.has_selector {
            refuse!("{name} has no selector, and so no groups");
        }
        if id == 0 {
            refuse!("the group_id is 0 or left out, and must be 1 at least");
        }
        let (known, most) = (self.parts(profile).0.groups.get(&id).copied(), of.signed("max_size"));
        match (change, known) {
            (Change::Insert, Some(_)) => refuse!("{name} has the group {id} already"),
            (Change::Modify | Change::Delete, None) => refuse!("{name} has no group {id}"),
            (Change::Delete, Some((handle, _))) => {
                self.commands.delete_group(profile.profile, handle.into(), id.into())?;
                self.parts(profile).0.groups.remove(&id);
            }
            (Change::Modify, Some((_, before))) if before != most => {
                refuse!("the group {id} was inserted with the max_size {before}, and now it is {most}")
            }
            _ if most < 0 || (profile.group_size > 0 && most > profile.group_size) => {
                refuse!("the max_size {most} of the group {id} is not between 0 and {}", profile.group_size)
            }
            _ => {}
        }
        Ok(())
    }

    fn set_group(
        &mut self,
        change: Change,
        of: Message<'_>,
        profile: &ProfileInfo,
        (members, places): (usize, Vec<u32>),
    ) -> Result<()> {
        let (id, most) = (of.id("group_id"), of.signed("max_size"));
        let size = if profile.counts_members { members } else { places.len() } as i64;
        let most_of_all = [most, profile.group_size].into_iter().filter(|&most| most > 0).min();
        if let Some(most) = most_of_all.filter(|&most| size > most) {
            refuse!("the group {id} takes {size} places, and may take {most}");
        }
        match (change, self.parts(profile).0.groups.get(&id).copied()) {
            (Change::Insert, _) => {
                let handle = self.commands.add_group(profile.profile, places)?;
                self.parts(profile).0.groups.insert(id, (handle, most));
            }
            (_, Some((handle, _))) => self.parts(profile).1.groups[handle as usize] = Some(places),
            (_, None) => {}
        }
        room(profile, self.parts(profile).1)
    }

    /// The member or group with this number of the control plane.
    pub(super) fn known_target(&mut self, profile: u32, kind: &str, id: u32) -> Result<Target> {
        let profile = self.profile(profile)?;
        self.by_members(profile)?;
        let given = self.parts(profile).0;
        let target = match kind {
            "action_profile_member_id" => given.members.get(&id).map(|&member| Target::Member(member)),
            _ => given.groups.get(&id).map(|&(group, _)| Target::Group(group)),
        };
        target.ok_or_else(|| Error::new(format!("{} has no {id}, which the entry names as {kind}", profile.name)))
    }

    /// Creates a group for this entry alone.
    pub(super) fn action_set(
        &mut self,
        info: &TableInfo,
        table: &Table,
        profile: u32,
        action: Message<'_>,
    ) -> Result<Target> {
        let profile = self.profile(profile)?;
        if !profile.has_selector {
            refuse!("the entry has an action set, and {} no selector", profile.name);
        }
        let given = self.parts(profile).0;
        if !given.members.is_empty() || !given.groups.is_empty() {
            refuse!("{} has members or groups, and no entry of it may have an action set as well", profile.name);
        }
        let Some(set) = action.message("action_profile_action_set") else { refuse!("the action is empty") };
        let (mut calls, mut size) = (Vec::new(), 0);
        for one in set.messages("action_profile_actions") {
            let Some(action) = one.message("action") else { refuse!("an action of the set is empty") };
            let weight = fits(size, weight(profile, one)?)?;
            size += weight;
            calls.push((self.call(info, table, action)?, weight));
        }
        let size = if profile.counts_members { calls.len() } else { size };
        if profile.group_size > 0 && size as i64 > profile.group_size {
            refuse!("the action set takes {size} places, and may take {}", profile.group_size);
        }
        let (given, state) = self.parts(profile);
        let mut places = Vec::new();
        for (call, weight) in calls {
            places.extend(std::iter::repeat_n(state.members.len() as u32, weight));
            state.members.push(Some(call));
        }
        let group = state.groups.len() as u32;
        state.groups.push(Some(places));
        given.one_shot.insert(group);
        room(profile, state)?;
        Ok(Target::Group(group))
    }

    /// Deletes the group and members that were created for an entry.
    pub(super) fn forget_action_set(&mut self, info: &TableInfo, handle: u32) {
        let Some(profile) = self.info.profiles.get(&info.profile) else { return };
        let row = self.commands.state.tables[info.table as usize].row(handle);
        let Some(&mut Target::Group(group)) = row.map(|row| &mut row.entry.target) else { return };
        let (given, state) = self.parts(profile);
        if given.one_shot.remove(&group) {
            for member in state.groups[group as usize].take().into_iter().flatten() {
                state.members[member as usize] = None;
            }
        }
    }
}

/// Number of places that a member takes.
fn weight(profile: &ProfileInfo, member: Message<'_>) -> Result<usize> {
    super::unsupported(member, &["watch", "watch_port"], NO_WATCH)?;
    match member.signed("weight") {
        ..=0 => refuse!("the weight of a member is 0, below it or left out, and must be 1 at least"),
        weight if profile.counts_members && profile.weight_max > 0 && weight > profile.weight_max => {
            refuse!("the weight {weight} of a member is more than {}, which {} takes", profile.weight_max, profile.name)
        }
        weight => Ok(weight as usize),
    }
}

/// Returns `weight` if a group with this many places has room for it.
fn fits(places: usize, weight: usize) -> Result<usize> {
    if (places + weight) as i64 > PLACES_MAX {
        refuse!("the weights of a group are more than {PLACES_MAX} together, which are not supported");
    }
    Ok(weight)
}

/// Checks the total size of all groups.
fn room(profile: &ProfileInfo, state: &ProfileState) -> Result<()> {
    let size = |group: &Vec<u32>| {
        let mut members = group.clone();
        if profile.counts_members {
            members.dedup();
        }
        members.len() as i64
    };
    let places: i64 = state.groups.iter().flatten().map(size).sum();
    if profile.size > 0 && places > profile.size {
        refuse!("{} is full: its groups take {places} places, and have room for {}", profile.name, profile.size);
    }
    if places > 16 * PLACES_MAX {
        refuse!("the groups of {} take {places} places, and {} are the most", profile.name, 16 * PLACES_MAX);
    }
    Ok(())
}
