//! Egress ports of protected packets, as reported by failure detection and route recovery.

use hitless_core::wire::PortId;
use hitless_switch::{Half, Pass, PortState, RegisterArray, RegisterUse};

/// The effect of a change on the packets of a protected port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathChange {
    /// The link in use has failed: packets may have been lost.
    Lost(PortId),
    Found {
        primary: PortId,
        /// The number of the change, for [`BackupPaths::is_latest`].
        number: u16,
    },
    /// Packets change their path although nothing was lost. They wait until those on the old path have arrived.
    Moving {
        primary: PortId,
        /// The number of the change, for [`BackupPaths::finish_move`].
        number: u16,
    },
}

#[derive(Clone, Copy, Debug, Hash, hitless_core::state::Value)]
struct Path {
    primary: PortId,
    /// The port in use, or the last one in use.
    last: PortId,
    is_moving: bool,
    /// The number of changes, so that a timer of one change is not taken for a later one.
    changes: u16,
}

#[derive(Debug, hitless_core::state::State)]
pub struct BackupPaths {
    states: Vec<PortState>,
    paths: Vec<Path>,
    #[part]
    next_ports: RegisterArray<Option<PortId>>,
}

impl BackupPaths {
    /// All ports are up, and each protected port is its own path.
    pub fn new(ports: usize, protected: &[PortId]) -> Self {
        assert!(protected.iter().all(|port| usize::from(port.0) < ports), "a protected port is one of {ports}");
        let mut next_ports = RegisterArray::new("backupPort", Half::Egress, 1, ports, None);
        let path = |&primary: &PortId| Path { primary, last: primary, is_moving: false, changes: 0 };
        protected.iter().for_each(|&port| next_ports.poke(usize::from(port.0), Some(port)));
        Self { states: vec![PortState::Up; ports], paths: protected.iter().map(path).collect(), next_ports }
    }

    pub fn stated(&self) -> impl Iterator<Item = RegisterUse> {
        std::iter::once(self.next_ports.stated())
    }

    /// The egress port of packets with primary port `port`; `None` while they must wait.
    pub fn way(&mut self, pass: &mut Pass, port: PortId) -> Option<PortId> {
        self.next_ports.access(pass, usize::from(port.0), |way| *way)
    }

    /// Whether `state` is news of a failure. A port that is down and is then rerouted has not failed again: its packets
    /// are lost once.
    pub fn fails(&self, port: PortId, state: PortState) -> bool {
        self.states[usize::from(port.0)] == PortState::Up && state != PortState::Up
    }

    /// Records a port's new state. Returns the changes for each protected port.
    pub fn set_state(&mut self, port: PortId, state: PortState) -> Vec<PathChange> {
        let has_failed = self.fails(port, state);
        self.states[usize::from(port.0)] = state;
        (0..self.paths.len()).flat_map(|index| self.reconsider(index, has_failed.then_some(port))).collect()
    }

    /// Ends the wait for packets on the old path.
    pub fn finish_move(&mut self, primary: PortId, number: u16) -> Option<PathChange> {
        let is_due = |path: &Path| path.primary == primary && path.is_moving && path.changes == number;
        let index = self.paths.iter().position(is_due)?;
        assert!(
            self.next_ports.peek(usize::from(primary.0)).is_none(),
            "a port that moves has no way until it is over"
        );
        self.paths[index].is_moving = false;
        self.take(index)
    }

    /// Whether the port's packets have a path, unchanged since the change `number`.
    pub fn is_latest(&self, primary: PortId, number: u16) -> bool {
        let is_found = self.next_ports.peek(usize::from(primary.0)).is_some();
        is_found && self.paths.iter().any(|path| path.primary == primary && path.changes == number)
    }

    /// Whether packets wait for those on the old path.
    pub fn is_moving(&self, primary: PortId) -> bool {
        self.paths.iter().any(|path| path.primary == primary && path.is_moving)
    }

    fn reconsider(&mut self, index: usize, failed: Option<PortId>) -> Vec<PathChange> {
        let Path { primary, last, is_moving, .. } = self.paths[index];
        if failed == Some(last) {
            let path = &mut self.paths[index];
            path.is_moving = false;
            path.changes = path.changes.wrapping_add(1);
            // First no path, then the new one: the order must rewind before a packet takes the backup (section III-E).
            self.next_ports.poke(usize::from(primary.0), None);
            return [Some(PathChange::Lost(primary)), self.take(index)].into_iter().flatten().collect();
        }
        let now = self.next_ports.peek(usize::from(primary.0));
        let target = self.target(primary);
        // A move takes its target at its end (`finish_move`), since the target can still change.
        if is_moving || now == target {
            return Vec::new();
        }
        // Nothing is under way on another path: the packets wait, and can leave at once.
        if now.is_none() {
            return self.take(index).into_iter().collect();
        }
        // Packets on the longer path are still under way, and the paper does not order them with those on the new one.
        self.next_ports.poke(usize::from(primary.0), None);
        let path = &mut self.paths[index];
        path.is_moving = true;
        path.changes = path.changes.wrapping_add(1);
        vec![PathChange::Moving { primary, number: path.changes }]
    }

    fn take(&mut self, index: usize) -> Option<PathChange> {
        let primary = self.paths[index].primary;
        let way = self.target(primary)?;
        let path = &mut self.paths[index];
        path.last = way;
        path.changes = path.changes.wrapping_add(1);
        self.next_ports.poke(usize::from(primary.0), Some(way));
        Some(PathChange::Found { primary, number: path.changes })
    }

    /// The port that the states of all ports lead to, without a wait for packets on the old path.
    pub fn target(&self, primary: PortId) -> Option<PortId> {
        let mut port = primary;
        for _ in 0..self.states.len() {
            match self.states[usize::from(port.0)] {
                PortState::Up => return Some(port),
                PortState::Down => return None,
                // The scheme "same-port": the line itself has been replaced.
                PortState::Rerouted { backup } if backup == port => return Some(port),
                PortState::Rerouted { backup } => port = backup,
            }
        }
        // More steps than ports: the backups form a circle, and none of them is up.
        None
    }
}

/// Packets that egress moved from their primary port to the queues of its backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct MovedPackets {
    waiting: u32,
    has_left: bool,
}

impl MovedPackets {
    /// Adds a packet that goes to a queue of the backup.
    pub fn add(&mut self) {
        self.waiting += 1;
    }

    /// Removes a packet that the backup sends or refuses.
    pub fn remove(&mut self) {
        assert!(self.waiting > 0, "a packet that comes to the backup was moved there");
        self.waiting -= 1;
        self.has_left = true;
    }

    /// Forgets the packets that have left.
    pub fn begin_hold(&mut self) {
        self.has_left = false;
    }

    /// Whether a packet waits at the backup, or has left since [`Self::begin_hold`] and may still be in flight.
    pub fn may_be_overtaken(self) -> bool {
        self.waiting > 0 || self.has_left
    }
}

#[cfg(test)]
impl hitless_switch::explore::State for BackupPaths {
    fn tell(&self, digest: &mut hitless_switch::explore::Digest<'_>) {
        digest.value((&self.states, &self.paths));
        (0..self.states.len()).for_each(|port| digest.value(self.next_ports.peek(port)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PortState::{Down, Rerouted, Up};

    const P: PortId = PortId(0);
    const B: PortId = PortId(1);
    const C: PortId = PortId(2);

    fn way(ways: &mut BackupPaths) -> Option<PortId> {
        let mut pass = Pass::new(true);
        pass.begin(Half::Egress);
        ways.way(&mut pass, P)
    }

    fn name(change: &PathChange) -> &'static str {
        match change {
            PathChange::Lost(_) => "lost",
            PathChange::Found { .. } => "found",
            PathChange::Moving { .. } => "moving",
        }
    }

    /// Each step has a port's new state, its effect on P, and P's path afterwards.
    fn play(steps: &[(PortId, PortState, &[&str], Option<PortId>)]) -> BackupPaths {
        let mut ways = BackupPaths::new(3, &[P]);
        for &(port, state, changes, after) in steps {
            let found: Vec<_> = ways.set_state(port, state).iter().map(name).collect();
            assert_eq!(found, changes, "{port:?} {state:?}");
            assert_eq!(way(&mut ways), after, "{port:?} {state:?}");
        }
        ways
    }

    #[test]
    fn the_same_port_comes_back() {
        play(&[(P, Down, &["lost"], None), (P, Up, &["found"], Some(P)), (B, Down, &[], Some(P))]);
    }

    #[test]
    fn a_backup_takes_over_and_hands_back_after_a_pause() {
        let mut ways = play(&[
            (P, Down, &["lost"], None),
            (P, Rerouted { backup: B }, &["found"], Some(B)),
            (P, Up, &["moving"], None),
        ]);
        assert!(!ways.is_latest(P, 3));
        let found = ways.finish_move(P, 3);
        assert_eq!(found, Some(PathChange::Found { primary: P, number: 4 }));
        assert_eq!((way(&mut ways), ways.is_latest(P, 4), ways.is_latest(P, 3)), (Some(P), true, false));
        assert_eq!(ways.finish_move(P, 3), None);
    }

    #[test]
    fn a_reroute_without_a_word_of_the_failure_is_one() {
        play(&[(P, Rerouted { backup: B }, &["lost", "found"], Some(B))]);
    }

    #[test]
    fn the_backup_of_a_backup_takes_over() {
        play(&[
            (P, Rerouted { backup: B }, &["lost", "found"], Some(B)),
            (B, Down, &["lost"], None),
            (B, Rerouted { backup: C }, &["found"], Some(C)),
            (C, Rerouted { backup: P }, &["lost"], None),
        ]);
    }

    #[test]
    fn a_failure_of_the_old_way_during_the_move_counts() {
        let mut ways = play(&[
            (P, Rerouted { backup: B }, &["lost", "found"], Some(B)),
            (P, Up, &["moving"], None),
            (B, Down, &["lost", "found"], Some(P)),
        ]);
        assert_eq!(ways.finish_move(P, 3), None);
    }

    #[test]
    fn a_failure_of_the_new_way_during_the_move_keeps_packets_waiting() {
        let mut ways = play(&[
            (P, Rerouted { backup: B }, &["lost", "found"], Some(B)),
            (P, Up, &["moving"], None),
            (P, Down, &[], None),
        ]);
        assert_eq!((ways.finish_move(P, 2), way(&mut ways)), (None, None), "no such move");
        assert_eq!((ways.finish_move(P, 3), way(&mut ways)), (None, None));
        assert_eq!(ways.set_state(P, Rerouted { backup: B }).iter().map(name).collect::<Vec<_>>(), ["found"]);
    }
}
