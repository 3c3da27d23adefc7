//! What a queue may hold.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Bytes, PortId, QueueId};
use hitless_switch::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Q: what a queue may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "DeflectionCapacity")]
pub enum Capacity {
    /// The limit of its own: switch.buffer.per_port, or queue_max of a shared buffer.
    StaticLimit(StaticLimit),
    /// A number of bytes, whatever its limit is (section 6: "setting the queue capacity to a constant value").
    Constant(ConstantCapacity),
    /// What the shared buffer grants it at present, at most its own limit.
    CurrentThreshold(CurrentThreshold),
}

impl Default for Capacity {
    fn default() -> Self {
        Self::StaticLimit(StaticLimit {})
    }
}

/// A queue's own limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StaticLimit {}

/// What a shared buffer grants a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CurrentThreshold {}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantCapacity {
    /// How many.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
}

/// A queue that a packet may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub port: PortId,
    pub queue: QueueId,
}

impl Capacity {
    /// In bytes; none: there is no limit.
    #[inline]
    pub(crate) fn bytes(self, place: Place, context: &Context<'_>) -> Option<u64> {
        let own = || context.ports().queue_limit_bytes(place.port, place.queue);
        match self {
            Self::StaticLimit(_) => own(),
            Self::Constant(constant) => Some(constant.size.0),
            Self::CurrentThreshold(_) => own().into_iter().chain(context.buffer().threshold_bytes()).min(),
        }
    }
}

/// The queues of all ports of a switch, by one number.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(crate) struct Queues {
    /// By port: where its queues begin. Then how many there are.
    first: Vec<usize>,
}

impl Queues {
    /// Of ports with so many queues each.
    pub fn new(queue_counts: &[usize]) -> Self {
        let ends = queue_counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        Self { first: std::iter::once(0).chain(ends).collect() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// Of how many ports.
    pub fn ports(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// The number of one; none: another mechanism has asked for it later.
    pub fn find(&self, place: Place) -> Option<usize> {
        let index = self.index(place);
        (index < self.first[usize::from(place.port.0) + 1]).then_some(index)
    }

    /// The number of one.
    #[inline]
    pub fn index(&self, Place { port, queue }: Place) -> usize {
        self.first[usize::from(port.0)] + usize::from(queue.0)
    }
}
