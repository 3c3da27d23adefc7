//! One partition: what it holds, and what it does in a window.

use hitless_core::wire::Time;

use super::mail::Post;
use crate::run::edge::Closed;
use crate::run::look_ahead::Ahead;
use crate::run::network::{Happened, Network};

/// A part of a run. All of its tables are as long as those of the whole run, and what is elsewhere is never touched.
pub struct Partition {
    pub number: u32,
    pub network: Network<Closed>,
    /// The links that lead to others, by those: link, and where it leads.
    pub cut: Vec<(u32, u32)>,
    /// Events that have happened, and when the last one did.
    pub events: u64,
    pub now: Time,
}

impl Partition {
    /// Handles what is due before `end`, having taken what others have sent, and hands over what is sent to others.
    /// Answers when something is due next, here or there.
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
            self.events += 1;
            if let Happened::Due { order, event } = happened {
                self.network.shared.clocks.record(now, order);
                self.network.handle(now, event);
            }
        }
        self.hand_over(post)
    }

    /// Takes what others have sent.
    pub fn collect(&mut self, post: &Post) {
        post.collect(self.number, &mut self.network);
    }

    /// Hands over what is sent to others; returns when something is due next, here or there.
    pub fn hand_over(&mut self, post: &Post) -> Time {
        let arrives = post.hand_over(self.number, &self.cut, &mut self.network);
        self.network.shared.queue.next_time().map_or(arrives, |at| at.min(arrives))
    }
}
