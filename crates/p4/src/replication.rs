//! Clone sessions and multicast groups: the tables of the packet replication engine, and their limits.
//!
//! All languages of the control plane write through this module, so that they accept and refuse the same. The limits
//! are those of BMv2's simple_switch: `egress_rid` and `mcast_grp` have 16 bits, a clone session number has 15, and a
//! port number has the width of `egress_spec`.

use std::collections::BTreeMap;

use crate::error::{self, refuse};
use crate::program::Program;

/// Maximum multicast group number and replication id (rid): packets have 16 bits for each.
pub const GROUP_MAX: u32 = u16::MAX as u32;
/// Maximum clone session number: 15 bits in BMv2.
pub const SESSION_MAX: u32 = (1 << 15) - 1;
/// The replicas of clone session `n` form multicast group `FIRST_SESSION_GROUP + n`, a number that no packet can name.
const FIRST_SESSION_GROUP: u32 = GROUP_MAX + 1;
/// Width of `egress_spec` in v1model, for programs that lack it.
const PORT_BITS: u32 = 9;

/// The destination of a session's copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Mirror {
    Port(u32),
    Group(u32),
}

/// A copy in a multicast group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Replica {
    /// The replication id, which distinguishes the copies.
    pub rid: u16,
    pub port: u32,
}

/// A node of simple_switch_CLI: replicas with the same rid, in the order of their ports.
#[derive(Clone, Debug, hitless_core::state::Value)]
struct Node {
    rid: u16,
    replicas: Vec<Replica>,
    /// The group that the node is associated with, at most one.
    group: Option<u32>,
}

#[derive(Clone, Debug, Default, hitless_core::state::Value)]
struct Group {
    /// Direct replicas, from P4Runtime.
    own: Vec<Replica>,
    /// Nodes in the order of their association.
    nodes: Vec<u32>,
    /// Direct replicas, then replicas of the nodes; recomputed after each change.
    replicas: Vec<Replica>,
}

/// Sessions, groups and nodes of a switch.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Replication {
    sessions: BTreeMap<u32, Mirror>,
    groups: BTreeMap<u32, Group>,
    nodes: Vec<Node>,
    #[configured]
    port_bits: u32,
}

impl Replication {
    pub fn new(program: &Program) -> Self {
        let port_bits = program.standard.egress_spec.map_or(PORT_BITS, |slot| slot.width.min(32));
        Self { sessions: BTreeMap::new(), groups: BTreeMap::new(), nodes: Vec::new(), port_bits }
    }

    /// Returns the destination of a session's copies, or `None` if the session does not exist.
    #[inline]
    pub fn session(&self, session: u32) -> Option<Mirror> {
        self.sessions.get(&session).copied()
    }

    /// Returns the copies of a multicast group, or none if the group does not exist.
    #[inline]
    pub fn replicas(&self, group: u32) -> &[Replica] {
        self.groups.get(&group).map_or(&[], |group| &group.replicas)
    }

    /// Returns whether a group exists under a number that packets can name.
    pub fn has_group(&self, group: u32) -> bool {
        group <= GROUP_MAX && self.groups.contains_key(&group)
    }

    pub fn set_session(&mut self, session: u64, to: Mirror) -> error::Result<()> {
        let session = checked_session(session)?;
        match to {
            Mirror::Port(port) => drop(self.port(port.into())?),
            Mirror::Group(group) => drop(checked_group(group.into())?),
        }
        self.drop_session(session);
        self.sessions.insert(session, to);
        Ok(())
    }

    /// Creates or replaces a session with direct replicas.
    pub fn set_session_replicas(&mut self, session: u64, replicas: Vec<Replica>) -> error::Result<()> {
        let session = checked_session(session)?;
        self.drop_session(session);
        let to = match replicas[..] {
            // Same result as `mirroring_add`.
            [Replica { rid: 0, port }] => Mirror::Port(port),
            _ => Mirror::Group(FIRST_SESSION_GROUP + session),
        };
        if let Mirror::Group(group) = to {
            self.groups.insert(group, Group { own: replicas, ..Group::default() });
            self.join(group);
        }
        self.sessions.insert(session, to);
        Ok(())
    }

    pub fn remove_session(&mut self, session: u64) -> error::Result<()> {
        let session = checked_session(session)?;
        if !self.sessions.contains_key(&session) {
            refuse!("there is no clone session {session}");
        }
        self.drop_session(session);
        Ok(())
    }

    fn drop_session(&mut self, session: u32) {
        self.sessions.remove(&session);
        self.groups.remove(&(FIRST_SESSION_GROUP + session));
    }

    pub fn add_group(&mut self, group: u64) -> error::Result<()> {
        let group = checked_group(group)?;
        if self.groups.contains_key(&group) {
            refuse!("the multicast group {group} exists already");
        }
        self.groups.insert(group, Group::default());
        Ok(())
    }

    /// Replaces the direct replicas of a group; creates the group if necessary.
    pub fn set_group(&mut self, group: u64, replicas: Vec<Replica>) -> error::Result<()> {
        let group = checked_group(group)?;
        self.groups.entry(group).or_default().own = replicas;
        self.join(group);
        Ok(())
    }

    /// Removes a group; its nodes remain, without a group.
    pub fn remove_group(&mut self, group: u64) -> error::Result<()> {
        let group = checked_group(group)?;
        let Some(removed) = self.groups.remove(&group) else { refuse!("there is no multicast group {group}") };
        for node in removed.nodes {
            self.nodes[node as usize].group = None;
        }
        Ok(())
    }

    pub fn add_node(&mut self, rid: u64, ports: &[u64]) -> error::Result<u32> {
        let rid = checked_rid(rid)?;
        let replicas = self.node_replicas(rid, ports)?;
        self.nodes.push(Node { rid, replicas, group: None });
        Ok(self.nodes.len() as u32 - 1)
    }

    /// Replaces the ports of a node, which changes its group too.
    pub fn set_node(&mut self, node: u64, ports: &[u64]) -> error::Result<()> {
        let number = self.node(node)?;
        let replicas = self.node_replicas(self.nodes[number].rid, ports)?;
        self.nodes[number].replicas = replicas;
        if let Some(group) = self.nodes[number].group {
            self.join(group);
        }
        Ok(())
    }

    /// Adds a node to a group. As in BMv2, a node belongs to at most one group.
    pub fn associate(&mut self, group: u64, node: u64) -> error::Result<()> {
        let (group, number) = (checked_group(group)?, self.node(node)?);
        if let Some(other) = self.nodes[number].group {
            refuse!("the multicast node {node} is in group {other} already, and a node is in one group at most");
        }
        let Some(of) = self.groups.get_mut(&group) else { refuse!("there is no multicast group {group}") };
        of.nodes.push(number as u32);
        self.nodes[number].group = Some(group);
        self.join(group);
        Ok(())
    }

    pub fn replica(&self, rid: u64, port: u64) -> error::Result<Replica> {
        Ok(Replica { rid: checked_rid(rid)?, port: self.port(port)? })
    }

    fn port(&self, port: u64) -> error::Result<u32> {
        match u32::try_from(port).ok().filter(|port| u64::from(*port) >> self.port_bits == 0) {
            Some(port) => Ok(port),
            None => refuse!("the port {port} has more than the {} bits of egress_spec", self.port_bits),
        }
    }

    fn node(&self, node: u64) -> error::Result<usize> {
        match usize::try_from(node).ok().filter(|&node| node < self.nodes.len()) {
            Some(node) => Ok(node),
            None => refuse!("there is no multicast node {node}"),
        }
    }

    /// Checks the ports of a node. Duplicates are merged, because BMv2 stores the ports of a node as a bit set.
    fn node_replicas(&self, rid: u16, ports: &[u64]) -> error::Result<Vec<Replica>> {
        let mut ports = ports.iter().map(|&port| self.port(port)).collect::<error::Result<Vec<_>>>()?;
        ports.sort_unstable();
        ports.dedup();
        Ok(ports.into_iter().map(|port| Replica { rid, port }).collect())
    }

    /// Recomputes the replicas of a group.
    fn join(&mut self, group: u32) {
        let nodes = &self.nodes;
        let of = self.groups.get_mut(&group).expect("a group whose replicas are computed exists");
        of.replicas.clear();
        of.replicas.extend(&of.own);
        for &node in &of.nodes {
            let node = &nodes[node as usize];
            assert_eq!(node.group, Some(group), "a node of a multicast group names this group");
            of.replicas.extend(&node.replicas);
        }
    }
}

fn checked_group(group: u64) -> error::Result<u32> {
    match u32::try_from(group).ok().filter(|group| (1..=GROUP_MAX).contains(group)) {
        Some(group) => Ok(group),
        None => refuse!("the multicast group is {group}, and must be from 1 to {GROUP_MAX}"),
    }
}

fn checked_session(session: u64) -> error::Result<u32> {
    match u32::try_from(session).ok().filter(|&session| session <= SESSION_MAX) {
        Some(session) => Ok(session),
        None => refuse!("the clone session is {session}, and must be from 0 to {SESSION_MAX}"),
    }
}

fn checked_rid(rid: u64) -> error::Result<u16> {
    match u16::try_from(rid) {
        Ok(rid) => Ok(rid),
        Err(_) => refuse!("the replication id (rid) is {rid}, and must be from 0 to {}", u16::MAX),
    }
}
