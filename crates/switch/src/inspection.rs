//! Counters, depths and reports that the control plane and the driver read. Nothing here is on a packet's path.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, LineTiming, Packet, PortId, QueueId, Time};

use crate::architecture::Architecture;
use crate::drop_reason::DropReason;
use crate::flow_control::{FlowControl, FlowControlCounters};
use crate::port::{MacCounters, Port, Scheduler};
use crate::protection::LinkEnd;
use crate::protection::ProtectionState;
use crate::register::{Observed, Violation};
use crate::report::Report;
use crate::resources::{Budget, Footprint, Resources};
use crate::switch::Switch;

impl Switch {
    /// Returns the MAC counters of a port.
    pub fn mac(&self, port: PortId) -> MacCounters {
        self.core.ports[usize::from(port.0)].mac()
    }

    /// Returns the counters of flow control at a port.
    pub fn flow_control(&self, now: Time, port: PortId) -> FlowControlCounters {
        self.core.ports[usize::from(port.0)].flow_control(now)
    }

    /// Returns the classes that a port may not send because its partner has paused them, one bit each.
    pub fn paused_classes(&self, port: PortId) -> u8 {
        self.core.ports[usize::from(port.0)].paused_classes()
    }

    /// Returns since when the partner of `port` has paused `class`; `None` if it has not.
    pub fn paused_since(&self, port: PortId, class: u8) -> Option<Time> {
        self.core.ports[usize::from(port.0)].paused_since(class & 7)
    }

    /// Calls `look` for each packet in a queue of `port` that may not be served now: the partner or a mechanism has
    /// paused the queue, or it lacks credit of a mechanism.
    pub fn each_stopped(&self, port: PortId, look: impl FnMut(PacketHandle)) {
        if let Scheduler::Queued(scheduler) = &self.core.ports[usize::from(port.0)].scheduler {
            scheduler.each_stopped(look);
        }
    }

    /// Returns the names of the mechanisms with a hook at `port`, in running order.
    pub fn mechanisms_at(&self, port: PortId) -> impl Iterator<Item = &'static str> + '_ {
        let subscribed = self.core.ports[usize::from(port.0)].hooks.mechanisms();
        let numbered = (0..8).zip(&self.resources).filter(move |(number, _)| subscribed >> number & 1 == 1);
        numbered.map(|(_, resources)| resources.mechanism)
    }

    /// Returns the parameters of flow control at a port.
    pub fn flow_control_of(&self, port: PortId) -> Option<FlowControl> {
        self.core.ports[usize::from(port.0)].config.flow_control
    }

    /// Returns whether the partner of `port` must wait with a frame of `class`: for a resume frame, or for memory.
    pub fn holds_back(&self, port: PortId, class: u8, frame_bytes: u32) -> bool {
        let state = &self.core.ports[usize::from(port.0)];
        let Some(group) = state.groups().get(usize::from(class)) else { return false };
        match state.config.flow_control.filter(|control| control.credits().is_some()) {
            Some(control) => group.bytes() + control.memory_bytes(frame_bytes) > control.headroom_bytes,
            None => group.is_over,
        }
    }

    /// Returns the length of the frame of `class` that leaves `port` next, if its queue waits.
    pub fn first_frame_bytes(&self, port: PortId, class: u8) -> u32 {
        let state = &self.core.ports[usize::from(port.0)];
        let Scheduler::Queued(scheduler) = &state.scheduler else { return 0 };
        scheduler.first(state.config.class_queue[usize::from(class & 7)]).map_or(0, |entry| entry.frame_bytes)
    }

    /// Returns the lossless classes of a port with packets that found no room, and the number of these packets.
    pub fn lossless_drops(&self, port: PortId) -> impl Iterator<Item = (u8, u64)> + '_ {
        let groups = self.core.ports[usize::from(port.0)].groups().iter().map(|group| group.drops);
        (0..8).zip(groups).filter(|(_, drops)| *drops > 0)
    }

    /// Returns the ports at which lossless packets of `class` wait that entered through `port`.
    pub fn ports_with_packets_of(&self, port: PortId, class: u8) -> impl Iterator<Item = PortId> + '_ {
        let group = self.core.ports[usize::from(port.0)].groups().get(usize::from(class));
        group.into_iter().flat_map(|group| group.egress_ports())
    }

    /// Returns the number of ports, including recirculation ports.
    pub fn port_count(&self) -> usize {
        self.core.ports.len()
    }

    /// Returns the bytes waiting in a queue, as the control plane polls them.
    pub fn queue_bytes(&mut self, now: Time, port: PortId, queue: QueueId) -> u64 {
        self.core.queue_bytes(now, port, queue)
    }

    /// Returns the number of queues of a port.
    pub fn queue_count(&self, port: PortId) -> usize {
        self.core.ports[usize::from(port.0)].queue_count()
    }

    /// Returns the bytes waiting in all queues of a port.
    pub fn port_bytes(&mut self, now: Time, port: PortId) -> u64 {
        match &mut self.core.ports[usize::from(port.0)].scheduler {
            Scheduler::Fifo(scheduler) => scheduler.depth_bytes(now),
            Scheduler::Queued(scheduler) => {
                (0..scheduler.queue_count()).map(|queue| scheduler.depth_bytes(QueueId(queue as u8))).sum()
            }
            Scheduler::Flow(scheduler) => scheduler.depth_bytes(),
        }
    }

    /// Calls `look` for each packet waiting at a port. Ports with a FIFO scheduler are skipped: it hands packets over
    /// on arrival.
    pub fn each_waiting(&self, port: PortId, mut look: impl FnMut(PacketHandle)) {
        match &self.core.ports[usize::from(port.0)].scheduler {
            Scheduler::Fifo(_) => {}
            Scheduler::Queued(scheduler) => scheduler.each_waiting(look),
            Scheduler::Flow(scheduler) => scheduler.each_waiting(|waiting| look(waiting.entry.packet)),
        }
    }

    /// Returns how many frames that a port handed over ([`Environment::transmit`](crate::Environment::transmit)) have
    /// not yet left its queue and the line. They are the latest ones.
    pub fn frames_not_left(&mut self, now: Time, port: PortId) -> usize {
        match &mut self.core.ports[usize::from(port.0)].scheduler {
            Scheduler::Fifo(scheduler) => scheduler.packets(now),
            Scheduler::Queued(scheduler) => usize::from(scheduler.busy_until > now),
            Scheduler::Flow(scheduler) => usize::from(scheduler.busy_until > now),
        }
    }

    /// Returns the fixed parts of a packet's way through an egress port: the latencies before the queue of a port that
    /// knows its departures at arrival (its own events bring packets to other ports) and after any queue, and the
    /// timing of the line.
    pub fn port_timing(&self, port: PortId) -> (Duration, Duration, LineTiming) {
        let state = &self.core.ports[usize::from(port.0)];
        let lead = if self.is_fifo(port) { self.core.lead } else { Duration::ZERO };
        (lead, self.core.egress_latency, state.line_timing())
    }

    /// Returns whether a port is a plain FIFO: no frame overtakes another, and nothing stops the line.
    pub fn is_fifo(&self, port: PortId) -> bool {
        matches!(self.core.ports[usize::from(port.0)].scheduler, Scheduler::Fifo(_))
    }

    /// Packets that ended here, by reason.
    pub const fn drops(&self) -> &[u64; DropReason::COUNT] {
        &self.core.drops
    }

    /// Packets that mechanisms made here: copies and generated packets.
    pub const fn packets_created(&self) -> u64 {
        self.core.packets_created
    }

    /// Bytes in the packet buffer, over all ports except those with a FIFO scheduler.
    pub const fn buffer_bytes(&self) -> u64 {
        self.core.buffer.used_bytes()
    }

    /// Returns the bytes accounted in the packet buffer and the bytes in its queues if they differ. They must be equal:
    /// the buffer neither loses nor invents bytes.
    pub fn buffer_imbalance(&mut self, now: Time) -> Option<(u64, u64)> {
        let is_accounted = |port: &Port| !matches!(port.scheduler, Scheduler::Fifo(_));
        let ports: Vec<u16> = (0..self.core.ports.len() as u16)
            .filter(|&port| is_accounted(&self.core.ports[usize::from(port)]))
            .collect();
        let queued_bytes = ports.into_iter().map(|port| self.port_bytes(now, PortId(port))).sum();
        let used_bytes = self.buffer_bytes();
        (used_bytes != queued_bytes).then_some((used_bytes, queued_bytes))
    }

    /// Returns ports with a packet ready to send and no event that will send it. Between two events there must be none.
    pub fn idle_ports(&self) -> impl Iterator<Item = PortId> + '_ {
        let is_idle = |port: &Port| match &port.scheduler {
            Scheduler::Fifo(_) => false,
            Scheduler::Queued(scheduler) => scheduler.has_ready() && !scheduler.service_is_due,
            Scheduler::Flow(scheduler) => scheduler.has_ready() && !scheduler.service_is_due,
        };
        let ports = self.core.ports.iter().enumerate();
        ports.filter(move |(_, port)| is_idle(port)).map(|(number, _)| PortId(number as u16))
    }

    /// Returns the packets waiting at all ports except those with a FIFO scheduler.
    pub fn packets_queued(&self) -> usize {
        let queued = |port: &Port| match &port.scheduler {
            Scheduler::Queued(scheduler) => scheduler.packets(),
            Scheduler::Flow(scheduler) => scheduler.packets(),
            Scheduler::Fifo(_) => 0,
        };
        self.core.ports.iter().map(queued).sum()
    }

    /// The first operation of a mechanism that the hardware cannot do (checked mode).
    pub const fn violation(&self) -> Option<&Violation> {
        self.core.pass.violation()
    }

    /// Returns the mechanism that protects the link at `port`, as its sender or receiver `end`: its position among the
    /// switch's mechanisms, and the state. `None` if no protection there can be switched on and off.
    pub fn protection(&self, port: PortId, end: LinkEnd) -> Option<(usize, ProtectionState)> {
        let mut mechanisms = self.mechanisms.iter().enumerate();
        mechanisms.find_map(|(place, mechanism)| Some((place, mechanism.protection(port, end)?)))
    }

    /// Calls `see` for each packet that a mechanism keeps a copy of and may still send at `now` or later.
    pub fn each_copy(&self, now: Time, see: &mut dyn FnMut(&Packet)) {
        self.mechanisms.iter().for_each(|mechanism| mechanism.each_copy(now, see));
    }

    /// Returns the reports of all mechanisms.
    pub fn reports(&self, now: Time) -> impl Iterator<Item = Report> + '_ {
        self.mechanisms.iter().enumerate().map(move |(number, mechanism)| {
            let mut report = mechanism.report(now);
            let own = self.group_owners.iter().filter(|(_, owner)| usize::from(*owner) == number);
            own.for_each(|&(port, _)| self.core.report_group(port, &mut report));
            report
        })
    }

    /// Returns the name of each mechanism, in the order of [`Self::reports`].
    pub fn mechanism_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.resources.iter().map(|resources| resources.mechanism)
    }

    /// Returns each mechanism's hardware resources in numbers, in the order of [`Self::reports`].
    pub fn footprints(&self) -> impl Iterator<Item = Footprint> + '_ {
        self.resources.iter().map(|resources| Footprint::of(resources, &self.budget()))
    }

    /// Returns each mechanism's hardware resources in running order; mechanisms of the same name are merged.
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

    /// Returns the total footprint of all mechanisms, including the ports' configured queues. A group replaces one
    /// configured queue, because its packets go to the group instead.
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

    /// Returns the resources per stage that stages are computed with: the budget, or a Tofino's by default.
    pub fn budget(&self) -> Budget {
        self.core.architecture.budget.unwrap_or(Budget::tofino_like())
    }

    /// Resources that packets have used so far, to compare with those stated (checked mode).
    pub const fn observed(&self) -> &Observed {
        self.core.pass.observed()
    }

    /// The hardware's parameters.
    pub const fn architecture(&self) -> &Architecture {
        &self.core.architecture
    }
}
