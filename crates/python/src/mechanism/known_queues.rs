//! The ports and queues that a mechanism can name.

use hitless_core::wire::{PortId, QueueId};
use hitless_switch::{HookSet, Needs, Verdict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// For each port the number of queues, including those of this mechanism, and whether they can be managed.
#[derive(Clone, Debug, Default)]
pub struct KnownQueues {
    ports: Vec<(usize, bool)>,
}

impl KnownQueues {
    /// Combines a switch's `queue_counts` with a mechanism's needs.
    pub fn new(queue_counts: &[usize], needs: &Needs) -> Self {
        let mut ports: Vec<(usize, bool)> = queue_counts.iter().map(|&count| (count, false)).collect();
        for (port, _) in &needs.queues {
            let known = &mut ports[usize::from(port.0)];
            *known = (known.0 + 1, true);
        }
        let before_queueing = [HookSet::RX, HookSet::INGRESS_FROM, HookSet::INGRESS_TOWARDS];
        let first_half = before_queueing.into_iter().fold(HookSet::NONE, HookSet::with);
        for (port, hooks) in &needs.hooks {
            ports[usize::from(port.0)].1 |= !first_half.contains(*hooks);
        }
        Self { ports }
    }

    /// Checks that a queue exists.
    ///
    /// # Errors
    /// `ValueError` if it does not.
    pub fn queue(&self, port: u16, queue: u8) -> PyResult<(PortId, QueueId)> {
        let Some((count, _)) = self.ports.get(usize::from(port)) else {
            return Err(PyValueError::new_err(format!("the switch has no port {port}; it has {}", self.ports.len())));
        };
        if usize::from(queue) >= *count {
            return Err(PyValueError::new_err(format!("port {port} has no queue {queue}; it has {count}")));
        }
        Ok((PortId(port), QueueId(queue)))
    }

    /// Checks that a queue can be managed.
    ///
    /// # Errors
    /// `ValueError` if it does not exist, or belongs to a FIFO, which computes departures in advance.
    pub fn managed(&self, port: u16, queue: u8) -> PyResult<(PortId, QueueId)> {
        let known = self.queue(port, queue)?;
        if !self.ports[usize::from(port)].1 {
            let rule = "needs a port at which the mechanism has a queue, or a hook behind the traffic manager";
            return Err(PyValueError::new_err(format!("this {rule}, and port {port} is none")));
        }
        Ok(known)
    }

    /// Checks that a switch can execute a verdict.
    ///
    /// # Errors
    /// `ValueError` if the queue does not exist, or the packet cannot be held there.
    pub fn allow(&self, verdict: Verdict, is_egress: bool) -> PyResult<Verdict> {
        match verdict {
            Verdict::Forward { port, queue } => self.queue(port.0, queue.0).map(drop)?,
            Verdict::Hold { port, queue, .. } if is_egress => self.managed(port.0, queue.0).map(drop)?,
            Verdict::Hold { .. } => return Err(PyValueError::new_err("a packet is held from egress only")),
            Verdict::Continue | Verdict::Drop(_) => {}
        }
        Ok(verdict)
    }
}
