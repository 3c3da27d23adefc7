//! The scheduler of a port, and its group of queues, as a hook sees them.

use hitless_core::wire::{PortId, QueueId};

use super::visit::Reach;
use crate::queueing::Rounds;

/// The scheduler of a port whose queues can be managed.
pub struct SchedulerAccess<'c, 'a> {
    pub(super) reach: &'c mut Reach<'a>,
    pub(super) port: PortId,
}

impl SchedulerAccess<'_, '_> {
    /// Serves no queue but `open`, whoever else pauses or resumes them, until [`Self::open_all`].
    pub fn close_all_but(self, open: &[QueueId]) {
        self.reach.core.queued(self.port).close_all_but(open);
    }

    /// Serves no queue of packets of hosts but `open`, whoever else pauses or resumes them, until
    /// [`Self::release_hosts`].
    pub fn hold_hosts_but(self, open: &[QueueId]) {
        self.reach.core.queued(self.port).hold_hosts_but(open);
        self.reach.see_to_service(self.port);
    }

    /// Takes [`Self::hold_hosts_but`] back.
    pub fn release_hosts(self) {
        self.reach.core.queued(self.port).release_hosts();
        self.reach.see_to_service(self.port);
    }

    /// Takes [`Self::close_all_but`] back.
    pub fn open_all(self) {
        self.reach.core.queued(self.port).open_all();
        self.reach.see_to_service(self.port);
    }
}

/// The group of queues of a port. What it shows is state that scheduler and pipeline share (AFQ, section 4: the
/// disaggregated model).
pub struct GroupAccess<'c, 'a> {
    pub(super) reach: &'c mut Reach<'a>,
    pub(super) port: PortId,
}

impl GroupAccess<'_, '_> {
    /// Where the group is in its rounds. None: the port has no group.
    #[inline(always)]
    pub fn rounds(self) -> Option<Rounds> {
        self.reach.core.queued(self.port).rounds(self.reach.visit.now)
    }

    /// One bit for each queue of the group that has a packet, from its first queue. The architecture may show
    /// it in egress only.
    pub fn occupied_queues(self) -> u64 {
        self.reach.note_depth_read();
        let scheduler = self.reach.core.queued(self.port);
        let first = scheduler.first_of_group().map_or(0, |queue| queue.0);
        scheduler.occupied() >> first
    }

    /// Whether the half of the group that goes first is empty and its rounds are over: a signal of the scheduler.
    #[inline]
    pub fn waits_for_swap(self) -> bool {
        self.reach.core.queued(self.port).waits_for_swap()
    }

    /// Bytes waiting in the group: a signal of the scheduler.
    #[inline]
    pub fn bytes(self) -> u64 {
        self.reach.core.queued(self.port).group_bytes()
    }

    /// Whether the port has nothing of the group: nothing waits, nothing is on the way to it, and the line is free.
    pub fn is_idle(self) -> bool {
        self.reach.core.group_is_idle(self.reach.visit.now, self.port)
    }

    /// Exchanges the priorities of the two halves of the group, at once. Returns the packets left behind in the half
    /// that went first.
    pub fn swap_halves(self) -> usize {
        self.reach.core.queued(self.port).swap_halves()
    }
}
