//! Capacities of queues.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Bytes, PortId, QueueId};
use hitless_switch::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Q: capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "DeflectionCapacity")]
pub enum Capacity {
    /// The queue's own limit: switch.buffer.per_port, or queue_max of a shared buffer.
    StaticLimit(StaticLimit),
    /// A number of bytes, regardless of the limit (section 6: "setting the queue capacity to a constant value").
    Constant(ConstantCapacity),
    /// The current grant of the shared buffer, at most the queue's own limit.
    CurrentThreshold(CurrentThreshold),
}

impl Default for Capacity {
    fn default() -> Self {
        Self::StaticLimit(StaticLimit {})
    }
}

/// The queue's own limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StaticLimit {}

/// The current grant of a shared buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CurrentThreshold {}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantCapacity {
    /// Number of bytes.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
}

/// A queue as a destination of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub port: PortId,
    pub queue: QueueId,
}

impl Capacity {
    /// The capacity; `None` without a limit.
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

/// The queues of all ports of a switch, with consecutive numbers.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(crate) struct Queues {
    /// The first queue of each port, and finally the number of queues.
    first: Vec<usize>,
}

impl Queues {
    /// Numbers the queues of ports with the given counts.
    pub fn new(queue_counts: &[usize]) -> Self {
        let ends = queue_counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        Self { first: std::iter::once(0).chain(ends).collect() }
    }

    pub fn count(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    pub fn ports(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// The number of a queue; `None` if another mechanism requested the queue later.
    pub fn find(&self, place: Place) -> Option<usize> {
        let index = self.index(place);
        (index < self.first[usize::from(place.port.0) + 1]).then_some(index)
    }

    /// The number of a queue.
    #[inline]
    pub fn index(&self, Place { port, queue }: Place) -> usize {
        self.first[usize::from(port.0)] + usize::from(queue.0)
    }
}
