//! Messages at the receiving end of a flow: where they end, and when their last bytes arrived.

use hitless_core::wire::Time;

use crate::application::{Application, SenderEnd};

/// The messages of a flow at its receiving end. It knows their lengths, as the receiving program does.
///
/// The goal, which every packet needs, is last: the fields behind it in a flow are hot, too.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub struct Deliveries {
    /// Length of each message; 0 for no messages or appended ones.
    message_bytes: u64,
    /// Number of delivered messages, and of all messages.
    delivered: u64,
    count: u64,
    /// Time when the goal was last reached.
    latest: Time,
    /// The sending end's notification of its end.
    sender_end: Option<SenderEnd>,
    /// Whether the receiver is waiting for late datagrams.
    lingers: bool,
    /// Delivered bytes at which there is something to do next.
    goal: u64,
}

impl Deliveries {
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

    /// Returns the length of each message; 0 for no messages or appended ones.
    pub fn message_bytes(&self) -> u64 {
        self.message_bytes
    }

    /// Returns whether there is something to do at this number of delivered bytes.
    #[inline]
    pub fn wants(&self, bytes: u64) -> bool {
        bytes >= self.goal
    }

    /// Sets the goal; for appended messages, the sender knows where they end.
    pub fn set_goal(&mut self, goal: u64) {
        self.goal = goal;
    }

    /// Handles reaching the goal at `now`; returns the number of the message that is now complete.
    pub fn note(&mut self, now: Time, bytes: u64) -> Option<u64> {
        self.latest = now;
        if self.delivered == self.count || bytes < self.goal {
            return None;
        }
        self.delivered += 1;
        self.goal = if self.delivered == self.count { u64::MAX } else { self.goal + self.message_bytes };
        Some(self.delivered - 1)
    }

    pub fn note_sender_end(&mut self, end: SenderEnd) {
        self.sender_end = Some(end);
    }

    /// After the end of the sending end, returns when all datagrams had arrived. `None` means that the receiver waits
    /// for the rest until [`Self::lingers_until`].
    pub fn all_arrived(&mut self, bytes: u64) -> Option<Time> {
        let SenderEnd { at, written_bytes, lingers_until, .. } = self.sender_end?;
        if bytes >= written_bytes {
            // Not before the end of the sending end, and not after the wait.
            return Some(self.latest.clamp(at, lingers_until));
        }
        (self.goal, self.lingers) = (written_bytes, true);
        None
    }

    pub fn lingers(&self) -> bool {
        self.lingers
    }

    pub fn lingers_until(&self) -> Time {
        self.sender_end.map_or(Time::NEVER, |end| end.lingers_until)
    }
}
