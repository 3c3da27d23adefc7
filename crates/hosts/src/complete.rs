//! Final records of flows and messages during a run.
//!
//! A driver that streams results cannot wait for the end of the run. It takes the records that nothing can change any
//! more, in the order that the whole run would have.

use std::collections::BTreeMap;

use hitless_core::wire::{FlowId, Time};

use crate::application::{FlowRecord, MessageRecord};
use crate::records::{FlowRecords, join_ends, order_of_flows, order_of_messages};

/// Final records, in the order that [`FlowRecords::join`] gives to the records of a whole run.
#[derive(Clone, Debug, Default)]
pub struct Complete {
    /// In order of acknowledgement, then tag, flow and number.
    pub messages: Vec<MessageRecord>,
    /// In order of their end, then tag and number.
    pub flows: Vec<FlowRecord>,
}

/// End of each receiving end, by flow; `None` if it is open.
type Ends = BTreeMap<u32, Option<Time>>;

impl FlowRecords {
    pub fn len(&self) -> usize {
        self.messages.len() + self.flows.len() + self.receivers.len() + self.deliveries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes the records of everything that ended before `now` and cannot change any more. Everything before `now`
    /// has happened. `is_under_way` returns whether packets of a flow still exist, which can still be counted for it.
    ///
    /// The removed records precede all others, present and future, so pieces taken one after the other are in order.
    ///
    /// # Panics
    /// Like [`Self::join`].
    pub fn take_complete(&mut self, now: Time, is_under_way: impl Fn(FlowId) -> bool) -> Complete {
        self.receivers.sort_unstable_by_key(|record| record.flow.0);
        self.deliveries.sort_unstable();
        let ends = self.receivers.iter().map(|record| (record.flow.0, record.finished)).collect();
        // A record after the first open end could still be preceded by it in the final order.
        let before = self.least_unknown(&ends, is_under_way).min(now);
        let mut complete = Complete {
            messages: self.messages.extract_if(.., |message| message.acknowledged < before).collect(),
            flows: self.flows.extract_if(.., |flow| ended_at(flow, &ends).is_some_and(|at| at < before)).collect(),
        };
        for message in &mut complete.messages {
            message.delivered = self.delivery_of(message).unwrap_or(message.delivered);
        }
        complete.messages.sort_unstable_by_key(order_of_messages);
        for flow in &mut complete.flows {
            let place = self.receivers.binary_search_by_key(&flow.flow.0, |receiver| receiver.flow.0);
            join_ends(flow, place.ok().map(|place| &self.receivers[place]), now);
        }
        complete.flows.sort_unstable_by_key(order_of_flows);
        self.forget(&complete);
        complete
    }

    /// Returns the earliest end of a flow or message that can still change.
    fn least_unknown(&self, ends: &Ends, is_under_way: impl Fn(FlowId) -> bool) -> Time {
        let of_flow = |flow: &FlowRecord| match ended_at(flow, ends) {
            Some(_) if ends.contains_key(&flow.flow.0) && !is_under_way(flow.flow) => Time::NEVER,
            Some(at) => at,
            None => flow.sender_ended,
        };
        let of_message = |message: &MessageRecord| {
            let is_known = message.delivered < Time::NEVER
                || ends.contains_key(&message.flow.0)
                || self.delivery_of(message).is_some();
            if is_known { Time::NEVER } else { message.acknowledged }
        };
        let flows = self.flows.iter().map(of_flow).min().unwrap_or(Time::NEVER);
        self.messages.iter().map(of_message).min().unwrap_or(Time::NEVER).min(flows)
    }

    fn delivery_of(&self, message: &MessageRecord) -> Option<Time> {
        let key = (message.flow.0, message.number);
        let place = self.deliveries.binary_search_by_key(&key, |delivery| (delivery.flow, delivery.number)).ok()?;
        Some(self.deliveries[place].at)
    }

    /// Drops data about the other ends after its use.
    fn forget(&mut self, complete: &Complete) {
        let mut messages: Vec<_> = complete.messages.iter().map(|record| (record.flow.0, record.number)).collect();
        messages.sort_unstable();
        self.deliveries.retain(|delivery| messages.binary_search(&(delivery.flow, delivery.number)).is_err());
        let mut flows: Vec<u32> = complete.flows.iter().map(|record| record.flow.0).collect();
        flows.sort_unstable();
        self.receivers.retain(|receiver| flows.binary_search(&receiver.flow.0).is_err());
    }
}

/// Returns the end of a flow if it is known; for datagrams the receiving end decides it.
fn ended_at(flow: &FlowRecord, ends: &Ends) -> Option<Time> {
    if flow.finished < Time::NEVER { Some(flow.finished) } else { ends.get(&flow.flow.0).copied().flatten() }
}
