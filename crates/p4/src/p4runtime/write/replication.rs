use super::fields::number;
use super::{Change, Write, unsupported};
use crate::error::{Error, Result, refuse};
use crate::number::Number;
use crate::p4runtime::schema::{At, Message};
use crate::replication::Replica;

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
        checked(change, "multicast_group_id", id, self.commands.state.replication.has_group(id))?;
        if change == Change::Delete {
            return self.commands.state.replication.remove_group(id.into());
        }
        let replicas = self.replicas(of, "MulticastGroupEntry")?;
        self.commands.state.replication.set_group(id.into(), replicas)
    }

    fn clone_session(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        let id = of.id("session_id");
        checked(change, "session_id", id, self.commands.state.replication.session(id).is_some())?;
        if change == Change::Delete {
            return self.commands.state.replication.remove_session(id.into());
        }
        unsupported(of, &["class_of_service"], "a copy goes to the queue of its packet's class")?;
        unsupported(of, &["packet_length_bytes"], "copies of a session are whole")?;
        let replicas = self.replicas(of, "CloneSessionEntry")?;
        self.commands.state.replication.set_session_replicas(id.into(), replicas)
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
            Some("port") => number(of.bytes("port"), width, "the port of a replica")?.word(0),
            Some(_) => of.number("egress_port"),
            None => refuse!("the replica has no port"),
        };
        self.commands.state.replication.replica(of.id("instance").into(), port)
    }
}

/// Refuses requests that the tables themselves would accept: an update type that contradicts the object's existence,
/// and number 0, which P4Runtime reserves for "none".
fn checked(change: Change, name: &str, id: u32, exists: bool) -> Result<()> {
    match (change, exists) {
        _ if id == 0 => refuse!("the {name} is 0 or left out, and must be 1 at least"),
        (Change::Insert, true) => refuse!("the {name} {id} exists already"),
        (Change::Modify | Change::Delete, false) => refuse!("there is no {name} {id}"),
        _ => Ok(()),
    }
}
