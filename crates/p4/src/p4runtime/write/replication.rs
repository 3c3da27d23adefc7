//! Multicast groups and clone sessions.

use super::fields::number;
use super::{Change, Write, unsupported};
use crate::error::{Error, Result, refuse};
use crate::p4runtime::schema::{At, Message};
use crate::state::{Mirror, Replica};

/// The replicas of clone session `n` are multicast group `n` beyond all that a packet can name (16 bits).
const FIRST_SESSION_GROUP: u32 = 1 << 16;
/// The greatest number of a multicast group, of a clone session and of an instance, which packets have 16 bits for.
const NUMBER_MAX: u32 = FIRST_SESSION_GROUP - 1;

impl Write<'_> {
    pub(super) fn replication(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        match (of.message("multicast_group_entry"), of.message("clone_session_entry")) {
            (Some(group), _) => self.multicast(change, group).in_line(group, "MulticastGroupEntry"),
            (None, Some(session)) => self.clone_session(change, session).in_line(session, "CloneSessionEntry"),
            (None, None) => refuse!("it has neither group nor session"),
        }
    }

    fn multicast(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        let id = of.id("multicast_group_id");
        checked(change, "multicast_group_id", id, self.commands.state.groups.contains_key(&id))?;
        if change == Change::Delete {
            self.commands.state.groups.remove(&id);
            return Ok(());
        }
        let replicas = self.replicas(of, "MulticastGroupEntry")?;
        self.commands.state.groups.insert(id, replicas);
        Ok(())
    }

    fn clone_session(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        let id = of.id("session_id");
        checked(change, "session_id", id, self.commands.state.mirrors.contains_key(&id))?;
        self.commands.state.mirrors.remove(&id);
        self.commands.state.groups.remove(&(FIRST_SESSION_GROUP + id));
        if change == Change::Delete {
            return Ok(());
        }
        unsupported(of, &["class_of_service"], "a copy goes to the queue of its packet's class")?;
        unsupported(of, &["packet_length_bytes"], "copies of a session are whole")?;
        let replicas = self.replicas(of, "CloneSessionEntry")?;
        let to = match replicas[..] {
            // As mirroring_add has it.
            [Replica { rid: 0, port }] => Mirror::Port(port),
            _ => Mirror::Group(FIRST_SESSION_GROUP + id),
        };
        if let Mirror::Group(group) = to {
            self.commands.state.groups.insert(group, replicas);
        }
        self.commands.state.mirrors.insert(id, to);
        Ok(())
    }

    fn replicas(&self, of: Message<'_>, thing: &str) -> Result<Vec<Replica>> {
        let mut replicas = Vec::new();
        for given in of.messages("replicas") {
            let replica = self.replica(given).in_line(given, thing)?;
            if replicas.contains(&replica) {
                let Replica { rid, port } = replica;
                let what = format!("the replica with port {port} and instance {rid} is there twice");
                return Err(Error::new(what)).in_line(given, thing);
            }
            replicas.push(replica);
        }
        Ok(replicas)
    }

    fn replica(&self, of: Message<'_>) -> Result<Replica> {
        unsupported(of, &["backup_replicas"], "a replica has one port")?;
        let width = self.commands.program.standard.egress_spec.map_or(9, |slot| slot.width);
        let port = match of.chosen("port_kind") {
            Some("port") => number(of.bytes("port"), width, "the port of a replica")?.0[0],
            Some(_) => of.number("egress_port"),
            None => refuse!("the replica has no port"),
        };
        if port >> width != 0 {
            refuse!("the egress_port {port} of a replica has more than {width} bits");
        }
        let instance = of.id("instance");
        let Ok(rid) = u16::try_from(instance) else {
            refuse!("the instance {instance} of a replica is more than {NUMBER_MAX}");
        };
        Ok(Replica { rid, port: port as u32 })
    }
}

fn checked(change: Change, name: &str, id: u32, exists: bool) -> Result<()> {
    match (change, exists) {
        _ if id == 0 || id > NUMBER_MAX => refuse!("the {name} is {id}, and must be from 1 to {NUMBER_MAX}"),
        (Change::Insert, true) => refuse!("the {name} {id} exists already"),
        (Change::Modify | Change::Delete, false) => refuse!("there is no {name} {id}"),
        _ => Ok(()),
    }
}
