//! What flows leave behind: each end by itself while they run, joined at the end of the run.

use std::collections::BTreeSet;

use hitless_core::wire::{FlowId, Time};

use crate::application::{FlowOutcome, FlowRecord, MessageRecord, ReceiverRecord};

/// The last byte of a message was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, hitless_core::state::Value)]
pub(crate) struct Delivery {
    pub flow: u32,
    pub number: u64,
    pub at: Time,
}

/// Records of flows and messages. Those of several partitions become one by [`Self::merge`], and both ends of each flow
/// one by [`Self::join`], or, while the run goes on, by [`Self::take_complete`].
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct FlowRecords {
    /// Messages that are complete.
    pub messages: Vec<MessageRecord>,
    /// Messages that were under way when their flow ended, or the run.
    pub unfinished: Vec<MessageRecord>,
    /// Flows whose sending end has ended.
    pub flows: Vec<FlowRecord>,
    /// Receiving ends that have ended.
    pub receivers: Vec<ReceiverRecord>,
    pub(crate) deliveries: Vec<Delivery>,
}

impl FlowRecords {
    /// The last byte of a message was delivered.
    pub fn note_delivered(&mut self, now: Time, flow: FlowId, number: u64) {
        self.deliveries.push(Delivery { flow: flow.0, number, at: now });
    }

    /// Takes over what another partition has recorded.
    pub fn merge(&mut self, mut other: Self) {
        self.messages.append(&mut other.messages);
        self.unfinished.append(&mut other.unfinished);
        self.flows.append(&mut other.flows);
        self.receivers.append(&mut other.receivers);
        self.deliveries.append(&mut other.deliveries);
    }

    /// Gives each record what the other end of its flow knows, in an order that depends on nothing but what is
    /// recorded. The run ended at `ended_at`.
    ///
    /// # Panics
    /// When a reliable transport completed a flow and what was delivered is not what was written.
    pub fn join(&mut self, ended_at: Time) {
        self.receivers.sort_unstable_by_key(|record| record.flow.0);
        self.deliveries.sort_unstable();
        let mut waited_for = BTreeSet::new();
        for record in &mut self.flows {
            let found = self.receivers.binary_search_by_key(&record.flow.0, |receiver| receiver.flow.0);
            join_ends(record, found.ok().map(|place| &self.receivers[place]), ended_at);
            if record.outcome == FlowOutcome::Unfinished && record.messages_completed > 0 {
                waited_for.insert(record.flow);
            }
        }
        let deliveries = &self.deliveries;
        for record in self.messages.iter_mut().chain(&mut self.unfinished) {
            let key = (record.flow.0, record.number);
            if let Ok(place) = deliveries.binary_search_by_key(&key, |delivery| (delivery.flow, delivery.number)) {
                record.delivered = deliveries[place].at;
            }
        }
        self.withdraw_waited_for(&waited_for);
        self.flows.sort_unstable_by_key(order_of_flows);
        self.messages.sort_unstable_by_key(order_of_messages);
        self.unfinished.sort_unstable_by_key(|record| (record.tag, record.flow, record.number));
    }

    /// A message of datagrams that have not all arrived, and are waited for, is not complete. `flows` are not over.
    fn withdraw_waited_for(&mut self, flows: &BTreeSet<FlowId>) {
        let is_waited_for = |message: &MessageRecord| message.delivered == Time::NEVER && flows.contains(&message.flow);
        let withdrawn: Vec<MessageRecord> = self.messages.extract_if(.., |message| is_waited_for(message)).collect();
        let of: BTreeSet<FlowId> = withdrawn.iter().map(|message| message.flow).collect();
        self.flows
            .iter_mut()
            .filter(|record| of.contains(&record.flow))
            .for_each(|record| record.messages_completed -= 1);
        self.unfinished.extend(withdrawn);
    }
}

/// Flows stand by when they ended; of one moment by their tags, the groups.
pub(crate) fn order_of_flows(record: &FlowRecord) -> (Time, u32, FlowId) {
    (record.finished, record.tag, record.flow)
}

/// Messages stand by when they were acknowledged; of one moment as flows do.
pub(crate) fn order_of_messages(record: &MessageRecord) -> (Time, u32, FlowId, u64) {
    (record.acknowledged, record.tag, record.flow, record.number)
}

/// Adds what the receiving end of a flow knows, if it ever began.
pub(crate) fn join_ends(record: &mut FlowRecord, receiver: Option<&ReceiverRecord>, ended_at: Time) {
    if let Some(receiver) = receiver {
        record.bytes_delivered = receiver.bytes_delivered;
        record.receiver = receiver.receiver;
        record.reorder_buffer = receiver.reorder_buffer;
    }
    // The sending end of datagrams leaves it to the receiving end.
    if record.finished == Time::NEVER {
        let finished = receiver.and_then(|receiver| receiver.finished);
        record.outcome = finished.map_or(FlowOutcome::Unfinished, |_| FlowOutcome::Completed);
        record.finished = finished.unwrap_or(ended_at);
    } else if record.outcome == FlowOutcome::Completed {
        let FlowRecord { flow, bytes_written: written, bytes_delivered: delivered, .. } = *record;
        assert!(delivered == written, "{flow:?}: completed with {delivered} of {written} bytes delivered");
    }
    let FlowRecord { flow, bytes_written: written, bytes_delivered: delivered, .. } = *record;
    assert!(delivered <= written, "{flow:?}: {delivered} bytes delivered, only {written} written");
}
