//! The needs of a Python mechanism.

use hitless_core::wire::{PortId, QueueId};
use hitless_switch::{EcnThreshold, HookSet, MarkingPoint, Needs, QueueConfig, QueueLimit, QueueOrder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `hitless.Needs`, read field by field.
#[derive(FromPyObject)]
struct Written {
    hooks: Vec<(u16, u8)>,
    queues: Vec<(u16, WrittenQueue)>,
    depths: Vec<(u16, u8)>,
}

/// `hitless.QueueConfig`.
#[derive(FromPyObject)]
struct WrittenQueue {
    priority: u8,
    quantum_bytes: u32,
    limit_bytes: Option<u64>,
    limit_packets: Option<u32>,
}

impl WrittenQueue {
    fn config(&self) -> QueueConfig {
        let by_packets = self.limit_packets.map(QueueLimit::Packets);
        QueueConfig {
            priority: self.priority,
            quantum_bytes: self.quantum_bytes,
            limit: self.limit_bytes.map(QueueLimit::Bytes).or(by_packets).unwrap_or(QueueLimit::Unlimited),
            ecn: EcnThreshold::Off,
            marks_at: MarkingPoint::Enqueue,
            order: QueueOrder::ByArrival,
            of_hosts: true,
        }
    }
}

/// The needs of a mechanism: from the switch, and from each hook's view.
pub struct Asked {
    pub needs: Needs,
    /// Queues with depths that every hook can see.
    pub depths: Vec<(PortId, QueueId)>,
}

/// The hooks by their bits in `hitless.HookSet`.
const HOOKS: [HookSet; 7] = [
    HookSet::RX,
    HookSet::INGRESS_FROM,
    HookSet::INGRESS_TOWARDS,
    HookSet::EGRESS,
    HookSet::TX,
    HookSet::QUEUE_EMPTY,
    HookSet::TM_DROP,
];

/// Reads the result of `needs`. Only hooks that are `defined` are subscribed to; `queues_most` is the class's maximum
/// number of queues at a port.
pub fn read(returned: &Bound<'_, PyAny>, defined: HookSet, ports: usize, queues_most: u16) -> PyResult<Asked> {
    let written: Written = returned.extract()?;
    let port = |port: u16| {
        let no_port = || PyValueError::new_err(format!("the switch has no port {port}; it has {ports}"));
        (usize::from(port) < ports).then_some(PortId(port)).ok_or_else(no_port)
    };
    let subscribed = |bits: u8| {
        let wanted =
            HOOKS.into_iter().enumerate().filter(|&(bit, hook)| bits >> bit & 1 == 1 && defined.contains(hook));
        wanted.fold(HookSet::NONE, |all, (_, hook)| all.with(hook))
    };
    let hooks = written.hooks.iter().map(|&(at, bits)| Ok((port(at)?, subscribed(bits)))).collect::<PyResult<_>>()?;
    let queues: Vec<_> =
        written.queues.iter().map(|(at, queue)| Ok((port(*at)?, queue.config()))).collect::<PyResult<_>>()?;
    for (at, _) in &queues {
        let count = queues.iter().filter(|(other, _)| other == at).count();
        if count > usize::from(queues_most) {
            let port = at.0;
            let rule =
                format!("needs() asks for {count} queues at port {port}, and the class says queues={queues_most}");
            return Err(PyValueError::new_err(rule));
        }
    }
    let depths = written.depths.iter().map(|&(at, queue)| Ok((port(at)?, QueueId(queue)))).collect::<PyResult<_>>()?;
    Ok(Asked { needs: Needs { hooks, queues, ..Needs::default() }, depths })
}
