//! The pending events as bytes. Node numbers and slots do not affect the order, so loading pushes the events again.

use super::{EventQueue, IDLE, NONE, OrderKey, RESOLUTION_BITS, Source};
use crate::state::{Damaged, Reader, State, Value, Writer};
use crate::wire::Time;

impl<P: Copy> EventQueue<P> {
    /// For each node, whether its event is pending.
    fn pending(&self) -> Vec<bool> {
        let mut pending: Vec<bool> = self.nodes.iter().map(|node| node.next != IDLE).collect();
        let mut free = self.free;
        while free != NONE {
            pending[free as usize] = false;
            free = self.nodes[free as usize].next;
        }
        pending
    }
}

impl<P: Copy + Value> State for EventQueue<P> {
    fn save(&self, out: &mut Writer) {
        let Self { sources, last, last_order, nodes, .. } = self;
        out.value(sources);
        out.value(last);
        out.value(last_order);
        let pending = self.pending();
        let (of_sources, others) = pending.split_at(*sources as usize);
        for (node, &is_pending) in nodes.iter().zip(of_sources) {
            out.value(&is_pending.then_some(node.time));
        }
        out.value(&others.iter().filter(|&&is_pending| is_pending).count());
        for (node, _) in nodes[*sources as usize..].iter().zip(others).filter(|&(_, &is_pending)| is_pending) {
            out.value(&node.time);
            out.value(&node.order);
            out.value(&node.payload);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        if from.value::<u32>()? != self.sources {
            return Err(from.damaged("as many sources of events as were built"));
        }
        let mut loaded = Self { sources: self.sources, ..Self::with_ties(self.ties) };
        let sources = self.nodes[..self.sources as usize].iter().copied();
        loaded.nodes.extend(sources.map(|node| super::Node { next: IDLE, ..node }));
        (loaded.last, loaded.last_order) = from.value()?;
        loaded.cursor = loaded.last.0 >> RESOLUTION_BITS;
        for number in 0..self.sources {
            if let Some(time) = from.value::<Option<Time>>()? {
                let order = loaded.nodes[number as usize].order;
                loaded.check_pending(time, order, from)?;
                loaded.push_source(time, Source(number));
            }
        }
        for _ in 0..from.count()? {
            let (time, order, payload): (Time, OrderKey, P) = from.value()?;
            loaded.check_pending(time, order, from)?;
            loaded.push(time, order, payload);
        }
        *self = loaded;
        Ok(())
    }
}

impl<P: Copy> EventQueue<P> {
    fn check_pending(&self, time: Time, order: OrderKey, from: &Reader<'_>) -> Result<(), Damaged> {
        if self.has_passed(time, order) { Err(from.damaged("an event that is still to come")) } else { Ok(()) }
    }
}
