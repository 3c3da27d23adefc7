//! A switch and its outputs, with queries for tests of a mechanism.

use std::ops::{Deref, DerefMut};

use hitless_core::wire::shim::DetourCount;
use hitless_core::wire::{Packet, PortId, Time};
use hitless_switch::testing::Harness;
use hitless_switch::{DropReason, PortState, Report, Switch};

pub fn detours(packet: &Packet) -> Option<u8> {
    packet.shims.get::<DetourCount>().map(|count| count.0)
}

/// The switch in its world. Packets are numbered in order of arrival, in [`Packet::frame`].
pub struct OneSwitch(Harness);

impl Deref for OneSwitch {
    type Target = Harness;

    fn deref(&self) -> &Harness {
        &self.0
    }
}

impl DerefMut for OneSwitch {
    fn deref_mut(&mut self) -> &mut Harness {
        &mut self.0
    }
}

impl OneSwitch {
    pub fn new(switch: Switch, route: fn(&Packet) -> PortId) -> Self {
        Self(Harness::of_one(switch, route))
    }

    pub fn port_state(&mut self, port: PortId, state: PortState) {
        let now = self.world.now;
        self.tell_state(now, 0, port, state);
        self.run_until(Time(now.as_ps() + 1));
    }

    /// Runs until `limit`, for control packets that circulate for ever.
    pub fn finish_by(&mut self, limit: Time, control_packets: usize) {
        self.run_until(limit);
        assert_eq!(self.world.packets.alive(), control_packets);
        assert_eq!(self.switches[0].violation(), None);
    }

    pub fn sent(&self) -> Vec<u32> {
        self.world.left.iter().map(|left| left.packet.frame).collect()
    }

    /// The number of packets that left through these ports.
    pub fn count_sent_by(&self, ports: &[PortId]) -> usize {
        self.world.left.iter().filter(|left| ports.contains(&left.port)).count()
    }

    pub fn reasons(&self) -> Vec<DropReason> {
        self.world.ended.iter().map(|ended| ended.reason).collect()
    }

    /// The report of the only mechanism, without violated invariants.
    pub fn report(&self) -> Report {
        let report = self.switches[0].reports(self.world.now).next().expect("one mechanism runs");
        assert!(report.violated_invariants.is_empty(), "{:?}", report.violated_invariants);
        report
    }

    pub fn counter(&self, scope: &str, name: &str) -> u64 {
        let report = self.report();
        let found = report.counters.iter().find(|counter| counter.0 == scope && counter.1.key == name);
        found.unwrap_or_else(|| panic!("no {name} of {scope}")).2
    }
}
