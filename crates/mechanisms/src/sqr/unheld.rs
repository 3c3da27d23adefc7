//! Decisions about packets that keep no order: unprotected ones, and those that need none ([`super::any_order`]).

use hitless_core::wire::{Packet, PortId, QueueId};
use hitless_switch::{Context, HookSet, PortState, Verdict};

use super::{ANY_ORDER, Sqr};
use crate::sqr::metadata::CacheMetadata;

impl Sqr {
    pub(super) fn hooks(&self, port: PortId) -> HookSet {
        let steers = self.is_protected[usize::from(port.0)] && !self.any_order.classes().is_empty();
        if steers { HookSet::EGRESS.with(HookSet::INGRESS_TOWARDS) } else { HookSet::EGRESS }
    }

    /// Sends a packet that needs no order to the path of its port.
    pub(super) fn steer(&mut self, context: &mut Context<'_>) -> Verdict {
        let &mut Packet { class, egress_port: port, .. } = context.packet();
        if !self.any_order.contains(class) {
            return Verdict::Continue;
        }
        match self.any_order.steer(context.pass(), port) {
            Some(way) if way != port => {
                self.counters.port(port).moved += 1;
                self.move_to(context, way)
            }
            _ => Verdict::Continue,
        }
    }

    /// Sends an unprotected packet to the backup if there is one, otherwise to its own port.
    pub(super) fn send_unmarked(&mut self, context: &mut Context<'_>, way: Option<PortId>) -> Verdict {
        match way {
            Some(way) if way != context.port() => {
                self.counters.port(context.port()).moved += 1;
                self.move_to(context, way)
            }
            _ => Verdict::Continue,
        }
    }

    /// Lets an original that needs no order leave. Originals queued before the failure move to the backup, where
    /// egress sees them again.
    pub(super) fn judge_any_order(&mut self, context: &mut Context<'_>, least_loaded: PortId) -> Verdict {
        let (port, now_ns) = (context.port(), self.clock.now_ns(context));
        let is_marked = self.is_marked(context);
        let may_copy = is_marked && self.admit_copy(context, least_loaded);
        let path = self.any_order.original(context.pass(), port);
        self.counters.port(port).marked += u64::from(is_marked);
        match path.way {
            Some(way) if way != port => {
                self.counters.port(port).moved += 1;
                return self.move_to(context, way);
            }
            // Its queue is held until there is a path.
            None if is_marked => return self.move_to(context, port),
            _ if may_copy => {
                let (tag, started_ns) = (path.tag(), now_ns);
                let metadata = CacheMetadata { tag, started_ns, primary: port, is_kept_back: false, skip: None };
                self.copy(context, metadata, least_loaded, ANY_ORDER);
            }
            _ if is_marked => self.counters.port(port).note_unprotected(),
            _ => {}
        }
        Verdict::Continue
    }

    /// Sends a copy of a packet that needs no order if a failure can have lost the original, or lets it wait for its
    /// age.
    pub(super) fn judge_any_order_copy(&mut self, context: &mut Context<'_>) -> Verdict {
        let cached: CacheMetadata = context.packet().shims.get().expect("a cached packet has its metadata");
        let now_ns = self.clock.now_ns(context);
        let least_loaded = self.look_for_port(context, cached.tag, now_ns);
        let path = self.any_order.path(context.pass(), cached.primary);
        self.counters.port(cached.primary).passes += 1;
        let age_ns = self.clock.elapsed_ns(cached.started_ns, now_ns);
        let is_lost = cached.is_kept_back || path.can_have_lost(&cached, self.clock, self.steady_delay_ns);
        if !is_lost && age_ns < self.steady_delay_ns {
            return self.go_round(least_loaded, self.steady_delay_ns - age_ns);
        }
        if !is_lost || age_ns > self.any_order_age_ns {
            return self.end_copy(context, cached.primary);
        }
        let Some(way) = path.way else {
            // The verdict must outlive the next failure. Originals wait in the same queue, held until there is a path.
            context.packet().shims.replace(CacheMetadata { is_kept_back: true, ..cached });
            return self.move_to(context, cached.primary);
        };
        self.counters.port(cached.primary).resent += 1;
        self.counters.cached.remove(context.now(), context.packet().frame_bytes);
        context.packet().remove_shim::<CacheMetadata>();
        if cached.is_kept_back && way == context.port() {
            return self.send_any_order(context, path.tag(), now_ns, least_loaded);
        }
        context.release();
        self.move_to(context, way)
    }

    /// Sends a copy that waited for its own port, and makes a new copy. The originals in the queue follow.
    fn send_any_order(&mut self, context: &mut Context<'_>, tag: u32, now_ns: u32, least_loaded: PortId) -> Verdict {
        let primary = context.port();
        if self.admit_copy(context, least_loaded) {
            let copy = CacheMetadata { tag, started_ns: now_ns, primary, is_kept_back: false, skip: None };
            self.copy(context, copy, least_loaded, ANY_ORDER);
        } else {
            self.counters.port(primary).note_unprotected();
        }
        context.release();
        Verdict::Continue
    }

    /// Holds the queues of hosts at `primary` except `served`. With a path, queues without an order stay open too.
    pub(super) fn hold_all_but(&self, served: Option<QueueId>, primary: PortId, context: &mut Context<'_>) {
        let mut open: Vec<_> = served.into_iter().collect();
        if self.any_order.has_way(primary) {
            let classes = self.any_order.classes().iter();
            open.extend(classes.map(|&class| context.ports().class_queue(primary, class)));
        }
        context.scheduler(primary).hold_hosts_but(&open);
    }

    pub(super) fn follow_port(&mut self, port: PortId, state: PortState, context: &mut Context<'_>) {
        if self.ways.fails(port, state) {
            self.any_order.note_failure(port, self.clock.now_ns(context));
        }
        let changes = self.ways.set_state(port, state);
        for &primary in &self.config.protected {
            self.any_order.set_way(primary, self.ways.target(primary));
        }
        changes.into_iter().for_each(|change| self.follow(change, context));
        // Packets that need no order do not wait for the end of a move, but for a path.
        let moving = self.config.protected.iter().copied().filter(|&primary| self.ways.is_moving(primary));
        moving.for_each(|primary| self.hold_all_but(None, primary, context));
    }
}
