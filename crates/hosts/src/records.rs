//! Records of flows: separate for each end during the run, joined afterwards.

use std::collections::BTreeSet;

use hitless_core::wire::{FlowId, Time};

use crate::application::{FlowOutcome, FlowRecord, MessageRecord, ReceiverRecord};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, hitless_core::state::Value)]
pub(crate) struct Delivery {
    pub flow: u32,
    pub number: u64,
    pub at: Time,
}

/// Records of flows and messages. [`Self::merge`] combines partitions. [`Self::join`] combines both ends of each flow,
/// or, during a run, [`Self::take_complete`].
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct FlowRecords {
    pub messages: Vec<MessageRecord>,
    /// Messages under way at the end of their flow or of the run.
    pub unfinished: Vec<MessageRecord>,
    /// Flows with a closed sending end.
    pub flows: Vec<FlowRecord>,
    pub receivers: Vec<ReceiverRecord>,
    pub(crate) deliveries: Vec<Delivery>,
}

impl FlowRecords {
    pub fn note_delivered(&mut self, now: Time, flow: FlowId, number: u64) {
        self.deliveries.push(Delivery { flow: flow.0, number, at: now });
    }

    /// Adds the records of another partition.
    pub fn merge(&mut self, mut other: Self) {
        self.messages.append(&mut other.messages);
        self.unfinished.append(&mut other.unfinished);
        self.flows.append(&mut other.flows);
        self.receivers.append(&mut other.receivers);
        self.deliveries.append(&mut other.deliveries);
    }

    /// Adds to each record the data of the other end, and sorts all records by their content alone. The run ended at
    /// `ended_at`.
    ///
    /// # Panics
    /// If a reliable transport completed a flow and the bytes delivered differ from the bytes written.
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

    /// Withdraws messages of datagrams that have not all arrived while the receiver still waits. `flows` are those not
    /// over.
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

/// Sort key of flows: end time, then tag (the group).
pub(crate) fn order_of_flows(record: &FlowRecord) -> (Time, u32, FlowId) {
    (record.finished, record.tag, record.flow)
}

/// Sort key of messages: acknowledgement time, then as for flows.
pub(crate) fn order_of_messages(record: &MessageRecord) -> (Time, u32, FlowId, u64) {
    (record.acknowledged, record.tag, record.flow, record.number)
}

/// Adds the receiving end's data, if it was ever active.
pub(crate) fn join_ends(record: &mut FlowRecord, receiver: Option<&ReceiverRecord>, ended_at: Time) {
    if let Some(receiver) = receiver {
        record.bytes_delivered = receiver.bytes_delivered;
        record.receiver = receiver.receiver;
        record.reorder_buffer = receiver.reorder_buffer;
    }
    // For datagrams the receiving end decides the outcome.
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
