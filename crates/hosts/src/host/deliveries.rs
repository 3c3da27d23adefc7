//! What the receiving end of a flow knows of its messages: where they end, and when their last bytes have come.

use hitless_core::wire::Time;

use crate::application::{Application, SenderEnd};

/// The messages of a flow at its receiving end. It knows their lengths as the receiving program does.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct Deliveries {
    /// Nothing is to be done before so many bytes are delivered.
    goal: u64,
    /// Length of each message; 0 where there are none, or they come one by one.
    message_bytes: u64,
    /// Messages that were delivered, and how many there are.
    delivered: u64,
    count: u64,
    /// When the goal was last reached.
    latest: Time,
    /// What the sending end has told of its end.
    sender_end: Option<SenderEnd>,
    /// Late datagrams are waited for.
    lingers: bool,
}

impl Deliveries {
    /// Those of an application over a transport that is reliable or not.
    pub fn new(application: Application, reliable: bool) -> Self {
        let (message_bytes, count) = match application {
            Application::Messages { count, bytes, .. } => (bytes, count),
            Application::Unlimited { .. } | Application::Appended => (0, 0),
        };
        let goal = if message_bytes > 0 {
            message_bytes
        } else if reliable {
            u64::MAX
        } else {
            0
        };
        let (delivered, latest, sender_end, lingers) = (0, Time::ZERO, None, false);
        Self { goal, message_bytes, delivered, count, latest, sender_end, lingers }
    }

    /// Whether something is to be done now that so many bytes are delivered.
    #[inline]
    pub fn wants(&self, bytes: u64) -> bool {
        bytes >= self.goal
    }

    /// Where messages come one by one, their sender says where they end.
    pub fn set_goal(&mut self, goal: u64) {
        self.goal = goal;
    }

    /// So many bytes are delivered by `now`, which is enough; returns the number of the message that they complete.
    pub fn note(&mut self, now: Time, bytes: u64) -> Option<u64> {
        self.latest = now;
        if self.delivered == self.count || bytes < self.goal {
            return None;
        }
        self.delivered += 1;
        self.goal = if self.delivered == self.count { u64::MAX } else { self.goal + self.message_bytes };
        Some(self.delivered - 1)
    }

    /// The sending end has ended.
    pub fn note_sender_end(&mut self, end: SenderEnd) {
        self.sender_end = Some(end);
    }

    /// Having been told that the sending end has ended, and with so many bytes delivered: when all datagrams had
    /// arrived. `None`: they are waited for until [`Self::lingers_until`].
    pub fn all_arrived(&mut self, bytes: u64) -> Option<Time> {
        let SenderEnd { at, written_bytes, lingers_until, .. } = self.sender_end?;
        if bytes >= written_bytes {
            return Some(self.latest.clamp(at, lingers_until));
        }
        (self.goal, self.lingers) = (written_bytes, true);
        None
    }

    /// Whether late datagrams are waited for.
    pub fn lingers(&self) -> bool {
        self.lingers
    }

    /// Until when late datagrams are waited for.
    pub fn lingers_until(&self) -> Time {
        self.sender_end.map_or(Time::NEVER, |end| end.lingers_until)
    }
}
