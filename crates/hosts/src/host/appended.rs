//! Messages that an application appends one by one, on a connection that stays open.

use std::collections::VecDeque;

use hitless_core::wire::Time;

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Appended {
    bytes: u64,
    /// End of the message in bytes of the connection.
    end_bytes: u64,
    started: Time,
    /// [`Time::NEVER`] until its last byte is delivered.
    delivered: Time,
}

/// The messages of a connection. They share its byte stream, so they complete in order.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct AppendedMessages {
    /// Unacknowledged messages, oldest first.
    messages: VecDeque<Appended>,
    /// Number of delivered messages among them.
    delivered: usize,
    /// Number of messages completed earlier.
    completed: u64,
    appended_bytes: u64,
    written_bytes: u64,
}

impl AppendedMessages {
    pub fn append(&mut self, now: Time, bytes: u64) {
        self.appended_bytes += bytes;
        let message = Appended { bytes, end_bytes: self.appended_bytes, started: now, delivered: Time::NEVER };
        self.messages.push_back(message);
    }

    /// Returns the bytes appended but not yet passed to the sender, and marks them as passed.
    pub fn take_unwritten(&mut self) -> u64 {
        assert!(self.written_bytes <= self.appended_bytes, "more written than appended");
        let unwritten = self.appended_bytes - self.written_bytes;
        self.written_bytes = self.appended_bytes;
        unwritten
    }

    pub fn note_delivered(&mut self, now: Time, delivered_bytes: u64) {
        while let Some(message) = self.messages.get_mut(self.delivered) {
            if message.end_bytes > delivered_bytes {
                break;
            }
            message.delivered = now;
            self.delivered += 1;
        }
    }

    /// Takes the oldest message if it has been acknowledged by `now`.
    pub fn take_acknowledged(&mut self, now: Time, acknowledged_bytes: u64) -> Option<Message> {
        self.messages.front().filter(|message| message.end_bytes <= acknowledged_bytes)?;
        let Appended { bytes, started, delivered, .. } = self.messages.pop_front()?;
        assert!(delivered <= now, "a message was acknowledged that had not been delivered");
        assert!(self.delivered > 0, "acknowledged before it was delivered");
        self.delivered -= 1;
        self.completed += 1;
        Some(Message { number: self.completed - 1, bytes, started, delivered, acknowledged: now })
    }

    /// Returns the incomplete messages, oldest first.
    pub fn under_way(&self) -> impl Iterator<Item = Message> {
        (self.completed..).zip(&self.messages).map(|(number, &Appended { bytes, started, delivered, .. })| Message {
            number,
            bytes,
            started,
            delivered,
            acknowledged: Time::NEVER,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the acknowledged bytes at which there is something to do next.
    pub fn acknowledged_goal(&self) -> u64 {
        if self.written_bytes < self.appended_bytes {
            return 0;
        }
        self.messages.front().map_or(u64::MAX, |message| message.end_bytes)
    }

    /// Returns the delivered bytes at which there is something to do next.
    pub fn delivered_goal(&self) -> u64 {
        self.messages.get(self.delivered).map_or(u64::MAX, |message| message.end_bytes)
    }
}

/// A message, with its sender's knowledge; unknown times are [`Time::NEVER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub number: u64,
    pub bytes: u64,
    pub started: Time,
    pub delivered: Time,
    pub acknowledged: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_complete_in_the_order_of_their_bytes() {
        let mut appended = AppendedMessages::default();
        appended.append(Time(1), 100);
        appended.append(Time(2), 50);
        let numbers = |appended: &AppendedMessages| {
            appended.under_way().map(|it| (it.number, it.bytes, it.delivered, it.acknowledged)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&appended), [(0, 100, Time::NEVER, Time::NEVER), (1, 50, Time::NEVER, Time::NEVER)]);
        assert_eq!((appended.acknowledged_goal(), appended.delivered_goal()), (0, 100));
        assert_eq!((appended.take_unwritten(), appended.take_unwritten()), (150, 0));
        assert_eq!((appended.acknowledged_goal(), appended.delivered_goal()), (100, 100));
        appended.note_delivered(Time(5), 120);
        assert_eq!(appended.delivered_goal(), 150);
        assert_eq!(appended.take_acknowledged(Time(6), 99), None);
        let (number, bytes, started, delivered, acknowledged) = (0, 100, Time(1), Time(5), Time(6));
        let first = Message { number, bytes, started, delivered, acknowledged };
        assert_eq!(appended.take_acknowledged(Time(6), 149), Some(first));
        assert_eq!(appended.take_acknowledged(Time(6), 149), None);
        assert_eq!(numbers(&appended), [(1, 50, Time::NEVER, Time::NEVER)]);
        appended.note_delivered(Time(8), 150);
        assert_eq!(numbers(&appended), [(1, 50, Time(8), Time::NEVER)]);
        let last = Message { number: 1, bytes: 50, started: Time(2), delivered: Time(8), acknowledged: Time(9) };
        assert_eq!(appended.take_acknowledged(Time(9), 150), Some(last));
        assert!(appended.is_empty());
        assert_eq!((appended.acknowledged_goal(), appended.delivered_goal()), (u64::MAX, u64::MAX));
    }
}
