//! One partition: its state, and its work in a window.

use hitless_core::wire::Time;

use super::mail::Post;
use crate::run::edge::Closed;
use crate::run::look_ahead::Ahead;
use crate::run::network::{Happened, Network};

/// A part of a run. All its tables have the size of the whole run's; entries of other partitions are never touched.
pub struct Partition {
    pub number: u32,
    pub network: Network<Closed>,
    /// The cut links and the partition that each leads to, sorted by partition.
    pub cut: Vec<(u32, u32)>,
    /// Number of events handled, and the time of the last one.
    pub events: u64,
    pub now: Time,
}

impl Partition {
    /// Collects mail, handles the events before `end` and posts the mail for others. Returns when the next event is
    /// due, here or in the mail just posted.
    pub fn run_before(&mut self, end: Time, post: &Post) -> Time {
        self.collect(post);
        let (looks_ahead, mut ahead) = (self.network.is_large(), Ahead::default());
        loop {
            if looks_ahead {
                ahead.before_turn(&mut self.network);
            }
            let Some((now, happened)) = self.network.take_turn(end) else { break };
            debug_assert!(now >= self.now, "time runs backwards");
            self.now = now;
            match happened {
                Happened::Arrival { .. } => self.events += 1,
                Happened::Due { order, event } => {
                    if !event.leaves_no_mark() {
                        self.network.shared.clocks.record(now, order);
                        self.events += 1;
                    }
                    self.network.handle(now, event);
                }
            }
        }
        self.hand_over(post)
    }

    /// Collects the mail from other partitions.
    pub fn collect(&mut self, post: &Post) {
        post.collect(self.number, &mut self.network);
    }

    /// Posts the mail for other partitions. Returns when the next event is due, here or in that mail.
    pub fn hand_over(&mut self, post: &Post) -> Time {
        let arrives = post.hand_over(self.number, &self.cut, &mut self.network);
        self.network.shared.queue.next_time().map_or(arrives, |at| at.min(arrives))
    }
}
