//! What a control plane, or who runs the switch, reads of it: counters, depths and reports. Nothing here is of a
//! packet's way.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Packet, PortId, QueueId, Time};

use crate::architecture::Architecture;
use crate::drop_reason::DropReason;
use crate::link_end::LinkEnd;
use crate::port::{MacCounters, Port, Scheduler};
use crate::register::{Observed, Violation};
use crate::report::Report;
use crate::resources::{Budget, Footprint, Resources};
use crate::switch::Switch;

impl Switch {
    /// The MAC counters of a port.
    pub fn mac(&self, port: PortId) -> MacCounters {
        self.core.ports[usize::from(port.0)].mac()
    }

    /// How many ports there are, recirculation ports included.
    pub fn port_count(&self) -> usize {
        self.core.ports.len()
    }

    /// Bytes waiting in a queue of a port: what the control plane polls.
    pub fn queue_bytes(&mut self, now: Time, port: PortId, queue: QueueId) -> u64 {
        self.core.queue_bytes(now, port, queue)
    }

    /// Bytes waiting in all queues of a port.
    pub fn port_bytes(&mut self, now: Time, port: PortId) -> u64 {
        match &mut self.core.ports[usize::from(port.0)].scheduler {
            Scheduler::Fifo(scheduler) => scheduler.depth_bytes(now),
            Scheduler::Queued(scheduler) => {
                (0..scheduler.queue_count()).map(|queue| scheduler.depth_bytes(QueueId(queue as u8))).sum()
            }
            Scheduler::Flow(scheduler) => scheduler.depth_bytes(),
        }
    }

    /// Calls `look` for each packet that waits at a port, unless it has a FIFO scheduler, whose packets are handed over
    /// when they come.
    pub fn each_waiting(&self, port: PortId, mut look: impl FnMut(PacketHandle)) {
        match &self.core.ports[usize::from(port.0)].scheduler {
            Scheduler::Fifo(_) => {}
            Scheduler::Queued(scheduler) => scheduler.each_waiting(look),
            Scheduler::Flow(scheduler) => scheduler.each_waiting(|waiting| look(waiting.entry.packet)),
        }
    }

    /// How many of the frames that a port has handed over ([`Environment::transmit`]) have not left its queue, or the
    /// line before it: the last so many.
    pub fn frames_not_left(&mut self, now: Time, port: PortId) -> usize {
        match &mut self.core.ports[usize::from(port.0)].scheduler {
            Scheduler::Fifo(scheduler) => scheduler.packets(now),
            Scheduler::Queued(scheduler) => usize::from(scheduler.busy_until > now),
            Scheduler::Flow(scheduler) => usize::from(scheduler.busy_until > now),
        }
    }

    /// Packets that ended here, by reason.
    pub const fn drops(&self) -> &[u64; DropReason::COUNT] {
        &self.core.drops
    }

    /// Packets that mechanisms made here: copies and generated packets.
    pub const fn packets_created(&self) -> u64 {
        self.core.packets_created
    }

    /// Bytes in the packet buffer, all ports but those with a FIFO scheduler together.
    pub const fn buffer_bytes(&self) -> u64 {
        self.core.buffer.used_bytes()
    }

    /// The bytes in the packet buffer and those in its queues, where the two differ: no byte of it is lost or found.
    pub fn buffer_imbalance(&mut self, now: Time) -> Option<(u64, u64)> {
        let is_accounted = |port: &Port| !matches!(port.scheduler, Scheduler::Fifo(_));
        let ports: Vec<u16> = (0..self.core.ports.len() as u16)
            .filter(|&port| is_accounted(&self.core.ports[usize::from(port)]))
            .collect();
        let queued_bytes = ports.into_iter().map(|port| self.port_bytes(now, PortId(port))).sum();
        let used_bytes = self.buffer_bytes();
        (used_bytes != queued_bytes).then_some((used_bytes, queued_bytes))
    }

    /// Ports that have a packet which may go, and nothing that will send it: none, between two events.
    pub fn idle_ports(&self) -> impl Iterator<Item = PortId> + '_ {
        let is_idle = |port: &Port| match &port.scheduler {
            Scheduler::Fifo(_) => false,
            Scheduler::Queued(scheduler) => scheduler.has_ready() && !scheduler.service_is_due,
            Scheduler::Flow(scheduler) => scheduler.has_ready() && !scheduler.service_is_due,
        };
        let ports = self.core.ports.iter().enumerate();
        ports.filter(move |(_, port)| is_idle(port)).map(|(number, _)| PortId(number as u16))
    }

    /// Packets waiting at all ports but those with a FIFO scheduler.
    pub fn packets_queued(&self) -> usize {
        let queued = |port: &Port| match &port.scheduler {
            Scheduler::Queued(scheduler) => scheduler.packets(),
            Scheduler::Flow(scheduler) => scheduler.packets(),
            Scheduler::Fifo(_) => 0,
        };
        self.core.ports.iter().map(queued).sum()
    }

    /// The first thing a mechanism did that the hardware cannot do (checked mode).
    pub const fn violation(&self) -> Option<&Violation> {
        self.core.pass.violation()
    }

    /// The mechanism that protects the link of `port`, of which the port is `end`, by its place among those of the
    /// switch, and whether it does so now. None: no protection there can be switched on and off.
    pub fn protection(&self, port: PortId, end: LinkEnd) -> Option<(usize, bool)> {
        let mut mechanisms = self.mechanisms.iter().enumerate();
        mechanisms.find_map(|(place, mechanism)| Some((place, mechanism.protection(port, end)?)))
    }

    /// Shows each packet of which a mechanism keeps a copy that it may send at `now` or later.
    pub fn each_copy(&self, now: Time, see: &mut dyn FnMut(&Packet)) {
        self.mechanisms.iter().for_each(|mechanism| mechanism.each_copy(now, see));
    }

    /// The reports of all mechanisms.
    pub fn reports(&self, now: Time) -> impl Iterator<Item = Report> + '_ {
        self.mechanisms.iter().enumerate().map(move |(number, mechanism)| {
            let mut report = mechanism.report(now);
            let own = self.group_owners.iter().filter(|(_, owner)| usize::from(*owner) == number);
            own.for_each(|&(port, _)| self.core.report_group(port, &mut report));
            report
        })
    }

    /// What each mechanism takes of a real switch in numbers, in the order of [`Self::reports`].
    pub fn footprints(&self) -> impl Iterator<Item = Footprint> + '_ {
        self.resources.iter().map(|resources| Footprint::of(resources, &self.budget()))
    }

    /// What each mechanism takes of a real switch, in the order in which they run; those of one name are one.
    pub fn resources(&self) -> Vec<Resources> {
        let mut merged: Vec<Resources> = Vec::new();
        for resources in &self.resources {
            match merged.iter_mut().find(|known| known.mechanism == resources.mechanism) {
                Some(known) => known.add(resources.clone()),
                None => merged.push(resources.clone()),
            }
        }
        merged
    }

    /// What all mechanisms together take, with the queues that ports have in any case. A group of queues stands for one
    /// of these: that of the packets that go there instead.
    pub fn footprint(&self) -> Footprint {
        let (all, budget) = (self.resources(), self.budget());
        let each = all.iter().map(|resources| Footprint::of(resources, &budget));
        let sum = each.fold(Footprint::default(), |sum, next| sum.followed_by(&next));
        let queues_of = |port: &Port| match port.config.group {
            Some(group) => port.config.queues.len() - 1 + usize::from(group.queues),
            None => port.config.queues.len(),
        };
        let queues = self.core.ports.iter().map(queues_of).max().unwrap_or(0) as u64;
        let mut ports: Vec<u16> =
            all.iter().flat_map(|resources| resources.recirculation_ports.iter().copied()).collect();
        ports.sort_unstable();
        ports.dedup();
        Footprint { queues, recirculation_ports: ports.len() as u64, ..sum }
    }

    /// What a stage has, by which stages are counted: the budget, or that of a Tofino where there is none.
    pub fn budget(&self) -> Budget {
        self.core.architecture.budget.unwrap_or(Budget::tofino_like())
    }

    /// What packets have used so far of what mechanisms state (checked mode).
    pub const fn observed(&self) -> &Observed {
        self.core.pass.observed()
    }

    /// The hardware.
    pub const fn architecture(&self) -> &Architecture {
        &self.core.architecture
    }
}
