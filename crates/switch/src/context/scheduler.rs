//! The scheduler of a port, and its group of queues, as a hook sees them.

use hitless_core::wire::{PortId, QueueId};

use super::visit::Reach;
use crate::queueing::Rounds;

/// The scheduler of a port with managed queues.
pub struct SchedulerAccess<'c, 'a> {
    pub(super) reach: &'c mut Reach<'a>,
    pub(super) port: PortId,
}

impl SchedulerAccess<'_, '_> {
    /// Serves only the queues in `open`, whoever pauses or resumes others, until [`Self::open_all`].
    pub fn close_all_but(self, open: &[QueueId]) {
        self.reach.core.has_new_stops = true;
        self.reach.core.queued(self.port).close_all_but(open);
    }

    /// Serves, of the queues with packets of hosts, only those in `open`, whoever pauses or resumes others, until
    /// [`Self::release_hosts`].
    pub fn hold_hosts_but(self, open: &[QueueId]) {
        self.reach.core.has_new_stops = true;
        self.reach.core.queued(self.port).hold_hosts_but(open);
        self.reach.see_to_service(self.port);
    }

    /// Undoes [`Self::hold_hosts_but`].
    pub fn release_hosts(self) {
        self.reach.core.has_new_stops = true;
        self.reach.core.queued(self.port).release_hosts();
        self.reach.see_to_service(self.port);
    }

    /// Undoes [`Self::close_all_but`].
    pub fn open_all(self) {
        self.reach.core.has_new_stops = true;
        self.reach.core.queued(self.port).open_all();
        self.reach.see_to_service(self.port);
    }
}

/// The group of queues of a port. It exposes state that scheduler and pipeline share (AFQ, section 4: the disaggregated
/// model).
pub struct GroupAccess<'c, 'a> {
    pub(super) reach: &'c mut Reach<'a>,
    pub(super) port: PortId,
}

impl GroupAccess<'_, '_> {
    /// Returns the position of the group in its rounds, or `None` for a port without a group.
    #[inline(always)]
    pub fn rounds(self) -> Option<Rounds> {
        self.reach.core.queued(self.port).rounds(self.reach.visit.now)
    }

    /// Returns one bit for each queue of the group with a packet, starting with the group's first queue. The
    /// architecture may show it in egress only.
    pub fn occupied_queues(self) -> u64 {
        self.reach.note_depth_read();
        let scheduler = self.reach.core.queued(self.port);
        let first = scheduler.first_of_group().map_or(0, |queue| queue.0);
        scheduler.occupied() >> first
    }

    /// Returns whether the half with priority is empty and its rounds are over: a signal of the scheduler.
    #[inline]
    pub fn waits_for_swap(self) -> bool {
        self.reach.core.queued(self.port).waits_for_swap()
    }

    /// Returns the bytes waiting in the group: a signal of the scheduler.
    #[inline]
    pub fn bytes(self) -> u64 {
        self.reach.core.queued(self.port).group_bytes()
    }

    /// Returns whether the group is idle: no packet waits, is under way to it or is on the line.
    pub fn is_idle(self) -> bool {
        self.reach.core.group_is_idle(self.reach.visit.now, self.port)
    }

    /// Exchanges the priorities of the group's halves at once. Returns the number of packets left in the half that had
    /// priority.
    pub fn swap_halves(self) -> usize {
        self.reach.core.queued(self.port).swap_halves()
    }
}
