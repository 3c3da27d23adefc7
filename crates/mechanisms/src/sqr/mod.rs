//! SQR, Shared Queue Ring: recovery of packets from link failures in the switch (Qu, Joshi, Chan, Leong, Guo, Liu;
//! ICNP 2019; sections as printed there).
//!
//! Egress keeps a copy of every protected packet until it is sure that no failure can have lost it, and sends the
//! copies again, in order, on the backup path when one has. Copies wait in FIFO queues by going round: out of a queue,
//! through egress, and back into the queue of the [least loaded port](utilization). [`clock`] is the paper's
//! algorithm 1, [`order`] its algorithm 3; algorithm 2 is [`Sqr::judge_original`] and [`Sqr::judge_cached`].
//!
//! Where the paper leaves a choice, or its algorithms would lose or reorder packets:
//! - A port that comes back (ShareBackup) would make algorithm 2 drop the copies that it was to send. Here the order
//!   decides: what has not been sent is sent first, and new packets queue up behind it.
//! - A packet sent out of the cache is copied again, so that it survives a second failure.
//! - Without a path, and until the copies have been sent, new packets wait in the queues of host packets at the primary
//!   port, which are stopped. There they keep their order, get congestion marks, and cost no pass of egress: the
//!   backlog falls at the line rate minus the load.
//! - Copies that are not sent yet wait in the [`home`] queues of the primary port, and leave them in order.
//! - Copies also look for a port that sends less ([`utilization`]): an idle port has no original to report its load.
//! - With local rerouting, egress moves packets to the backup port until the primary is up again. They then wait for
//!   [`SqrSettings::return_hold`] after the last [`moved`] packet, so that none overtakes packets on the longer path.
//! - Moved packets wait in the queue of their class at the backup port. They are copied there if its link is protected
//!   too (algorithm 2 copies nothing on a backup path), so that they survive a second failure.
//! - Unprotected packets are moved to the backup port too.

mod backup_paths;
mod check;
mod clock;
pub mod config;
mod constant_rates;
mod counters;
#[cfg(test)]
mod every_way;
mod home;
mod kind;
pub mod metadata;
mod moved;
mod order;
mod resources;
mod settings;
mod two_failures;
mod utilization;

use crate::sqr::metadata::CacheMetadata;
use hitless_core::wire::{Duration, Packet, PortId, QueueId, Time};
use hitless_switch::canary::{Canary, sings};
use hitless_switch::{
    Context, DropReason, Event, HookSet, Mechanism, Needs, QueueConfig, QueueLimit, Report, Resources, Verdict,
};

use backup_paths::{BackupPaths, PathChange};
pub use clock::Clock;
pub use config::{RingShare, SqrConfig};
use counters::SwitchCounters;
use home::{HOME_QUEUES, HomeQueues};
use moved::MovedPackets;
use order::{CachedTurn, OriginalTurn, PacketOrder};
pub use settings::{SqrBackstop, SqrCaching, SqrRelease, SqrSettings};
use utilization::Utilization;

/// A packet in the cache.
const CACHED: u8 = 1;

/// The minimum time that the order waits for a packet without a note that it is missing: longer than any copy needs to
/// come round, among thousands of copies and on a busy port.
const STALL_NS: u32 = 10_000_000;

/// The reciprocal of the ring's share of a busy port's time.
const RING_SHARE: u64 = 11;

/// The time of a round of the fullest ring on busy ports, in steady delays.
const ROUND_IN_DELAYS: u64 = 32;

/// The top bit of a timer token: a look after copies. Below it the token has the port and the number of the change.
const LOOK: u32 = 1 << 31;

/// The progress of a port's order when the control plane last looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
struct Look {
    next: u32,
    /// The number of looks since the order moved.
    idle: u32,
}

/// SQR on one switch.
#[derive(Debug)]
pub struct Sqr {
    config: SqrConfig,
    /// The clock of the copies' timestamps.
    clock: Clock,
    steady_delay: Duration,
    failure_delay: Duration,
    steady_delay_ns: u32,
    failure_delay_ns: u32,
    is_protected: Vec<bool>,
    /// By port: the queue of the ring. The home queues of a protected port follow it.
    caching_queues: Vec<QueueId>,
    home: HomeQueues,
    /// By port: the last look at its order while copies are sent.
    looked_at: Vec<Look>,
    /// By primary port: packets that wait at its backup.
    moved: Vec<MovedPackets>,
    utilization: Utilization,
    ways: BackupPaths,
    order: PacketOrder,
    is_paused_by_backstop: bool,
    counters: SwitchCounters,
}

hitless_core::state!(Sqr {
    values: steady_delay, failure_delay, steady_delay_ns, failure_delay_ns, is_protected, caching_queues,
        looked_at, moved, is_paused_by_backstop, counters;
    parts: home, utilization, ways, order;
    configured: config, clock
});

impl Sqr {
    /// SQR as configured, with nothing in its cache.
    ///
    /// # Panics
    /// When a delay is longer than half a turn of the clock, or the ring has no port.
    pub fn new(config: SqrConfig) -> Self {
        Self::with_first_tag(config, 0)
    }

    /// As [`Sqr::new`]; the first packet of each port gets `first_tag`. For tests of what wraps.
    pub fn with_first_tag(config: SqrConfig, first_tag: u32) -> Self {
        let ports = usize::from(config.line_ports);
        let settings = &config.settings;
        let clock = Clock::new(settings.clock_bits);
        let (steady_delay, failure_delay) = settings.delays();
        let failure_delay_ns = clock.ticks(failure_delay);
        let stall_timeout_ns = failure_delay_ns.saturating_mul(4).max(STALL_NS);
        let window_ns = clock.ticks(settings.utilization_window);
        Self {
            clock,
            steady_delay,
            failure_delay,
            steady_delay_ns: clock.ticks(steady_delay) / if sings(Canary::EarlyForget) { 4 } else { 1 },
            failure_delay_ns,
            is_protected: (0..config.line_ports).map(|port| config.protected.contains(&PortId(port))).collect(),
            caching_queues: Vec::new(),
            home: HomeQueues::default(),
            looked_at: vec![Look::default(); ports],
            moved: vec![MovedPackets::default(); ports],
            utilization: Utilization::new(ports, &config.caching_ports, window_ns),
            ways: BackupPaths::new(ports, &config.protected),
            order: PacketOrder::new(ports, stall_timeout_ns, first_tag),
            is_paused_by_backstop: false,
            counters: SwitchCounters::new(ports),
            config,
        }
    }

    /// Algorithm 2 for an original packet.
    fn judge_original(&mut self, context: &mut Context<'_>) -> Verdict {
        let (port, now_ns) = (context.port(), self.clock.now_ns(context));
        let bytes = context.packet().frame_bytes;
        let least_loaded = self.utilization.note(context.pass(), port, bytes, now_ns, self.clock);
        if !self.is_protected[usize::from(port.0)] {
            return Verdict::Continue;
        }
        let is_marked = self.is_marked(context);
        let may_copy = is_marked && self.may_copy(context, least_loaded);
        let way = self.ways.way(context.pass(), port);
        if !is_marked {
            return self.send_unmarked(context, way);
        }
        self.counters.port(port).marked += 1;
        let metadata = |tag| CacheMetadata { tag, started_ns: now_ns, primary: port, is_kept_back: false, skip: None };
        let backup = way.filter(|&way| way != port);
        match (self.order.original(context.pass(), port, way.is_some(), may_copy || backup.is_some()), backup) {
            (OriginalTurn::Direct(tag), None) => {
                self.copy(context, metadata(tag), least_loaded);
                Verdict::Continue
            }
            (OriginalTurn::Direct(tag), Some(backup)) => {
                self.counters.port(port).moved += 1;
                self.hold_only_copy(context, metadata(tag));
                self.move_on(context, port, backup)
            }
            (OriginalTurn::Unprotected, _) => {
                self.counters.port(port).unprotected += 1;
                Verdict::Continue
            }
            (OriginalTurn::KeptBack(tag), _) => {
                self.counters.port(port).kept_back += 1;
                self.hold_only_copy(context, metadata(tag));
                self.wait_at_home(port, tag)
            }
        }
    }

    /// Runs algorithms 1 to 3 for a packet in the cache, and for a packet that was moved from its primary port.
    fn judge_cached(&mut self, context: &mut Context<'_>) -> Verdict {
        let mut cached: CacheMetadata = context.packet().shims.get().expect("a cached packet has its metadata");
        let now_ns = self.clock.now_ns(context);
        let (port, bytes) = (context.port(), context.packet().frame_bytes);
        let is_at_home = self.is_for_home(context.packet(), cached.primary);
        let has_moved = cached.is_kept_back && !is_at_home;
        let least_loaded = if has_moved {
            self.moved[usize::from(cached.primary.0)].remove();
            self.utilization.note(context.pass(), port, bytes, now_ns, self.clock)
        } else if self.config.settings.finds_idle_ports {
            self.utilization.look(context.pass(), cached.tag, now_ns, self.clock)
        } else {
            self.utilization.least_loaded(context.pass())
        };
        let way = self.ways.way(context.pass(), cached.primary);
        self.counters.port(cached.primary).passes += 1;
        let age_ns = self.clock.elapsed_ns(cached.started_ns, now_ns);
        let is_old_enough = cached.is_kept_back
            || self.config.settings.release == SqrRelease::WhenRerouted
            || age_ns >= self.failure_delay_ns;
        let may_leave = is_old_enough && is_at_home && way.is_some();
        let (turn, skipped) = self.order.cached(context.pass(), &cached, may_leave);
        self.counters.port(cached.primary).skipped += u64::from(skipped);
        if let Some(next) = turn.next(cached.tag).filter(|_| skipped > 0 || turn == CachedTurn::Due) {
            self.open_next(context, cached.primary, next);
        }
        match turn {
            CachedTurn::Sent if has_moved => self.send(context, cached, now_ns, least_loaded),
            CachedTurn::Sent if cached.is_kept_back => self.leave(context, cached, now_ns, least_loaded, way),
            CachedTurn::Sent if age_ns >= self.steady_delay_ns => self.retire(context, &cached),
            CachedTurn::Sent => self.go_round(least_loaded, self.steady_delay_ns - age_ns),
            CachedTurn::Due => self.leave(context, cached, now_ns, least_loaded, way),
            CachedTurn::Waiting { next } => {
                self.counters.port(cached.primary).kept_back += u64::from(has_moved);
                if may_leave {
                    let stall_now_ns = context.timestamp_ns() as u32;
                    cached.skip = self.order.wait(context.pass(), &cached, next, stall_now_ns);
                    context.packet().shims.replace(cached);
                }
                self.wait_at_home(cached.primary, cached.tag)
            }
        }
    }

    fn is_marked(&self, context: &mut Context<'_>) -> bool {
        let class = context.packet().class;
        self.config.settings.protects(class, || context.service_key())
    }

    /// Whether the ring has room, and the backstop allows it (section VI, "Handling Traffic Surges").
    fn may_copy(&mut self, context: &mut Context<'_>, towards: PortId) -> bool {
        let limit_bytes = self.config.ring_share(towards).limit_bytes;
        if context.queue(towards, self.caching_queue(towards)).bytes() >= limit_bytes {
            return false;
        }
        if let Some(backstop) = self.config.settings.backstop {
            let used_bytes = context.buffer().used_bytes();
            if !self.is_paused_by_backstop && used_bytes >= backstop.pause.0 {
                self.is_paused_by_backstop = true;
                self.counters.pauses += 1;
            } else if used_bytes <= backstop.resume.0 {
                self.is_paused_by_backstop = false;
            }
        }
        !self.is_paused_by_backstop
    }

    /// Sends an unprotected packet to the backup if there is one, and else to its own port.
    fn send_unmarked(&mut self, context: &mut Context<'_>, way: Option<PortId>) -> Verdict {
        match way {
            Some(way) if way != context.port() => {
                self.counters.port(context.port()).moved += 1;
                self.move_to(context, way)
            }
            _ => Verdict::Continue,
        }
    }

    fn move_to(&self, context: &mut Context<'_>, way: PortId) -> Verdict {
        let class = context.packet().class;
        Verdict::Forward { port: way, queue: context.ports().class_queue(way, class) }
    }

    /// A packet of the cache moves from `primary` to the port that its way leads by.
    fn move_on(&mut self, context: &mut Context<'_>, primary: PortId, way: PortId) -> Verdict {
        self.moved[usize::from(primary.0)].add();
        self.move_to(context, way)
    }

    /// From now on the packet itself is in the cache.
    fn hold_only_copy(&mut self, context: &mut Context<'_>, metadata: CacheMetadata) {
        self.counters.cached.add(context.now(), context.packet().frame_bytes);
        context.adopt(CACHED);
        let metadata = CacheMetadata { is_kept_back: true, ..metadata };
        context.packet().push_shim(metadata).expect("a packet in egress has room");
    }

    fn copy(&mut self, context: &mut Context<'_>, metadata: CacheMetadata, towards: PortId) {
        let bytes = context.packet().frame_bytes;
        let queue = self.caching_queue(towards);
        let edit = |packet: &mut Packet| packet.push_shim(metadata).expect("a packet in egress has room");
        let admitted = match self.config.settings.caching {
            SqrCaching::Ring => {
                context.queue(towards, queue).mirror(CACHED, edit);
                Ok(())
            }
            SqrCaching::DelayQueue => {
                let delay = Duration::from_ns(u64::from(self.steady_delay_ns));
                context.queue(towards, queue).mirror_held(delay, CACHED, edit)
            }
        };
        let counters = self.counters.port(metadata.primary);
        counters.copies += 1;
        match admitted {
            Ok(()) => self.counters.cached.add(context.now(), bytes),
            Err(_) => {
                counters.copies_refused += 1;
                self.order.note_missing(context.pass(), &metadata);
            }
        }
    }

    /// Lets a packet leave its home in its turn, by its own port or to the backup.
    fn leave(
        &mut self,
        context: &mut Context<'_>,
        cached: CacheMetadata,
        now_ns: u32,
        least_loaded: PortId,
        way: Option<PortId>,
    ) -> Verdict {
        self.counters.port(cached.primary).resent += u64::from(way.is_some());
        match way {
            None => self.wait_at_home(cached.primary, cached.tag),
            Some(way) if way != cached.primary => {
                context.packet().shims.replace(CacheMetadata { is_kept_back: true, skip: None, ..cached });
                self.move_on(context, cached.primary, way)
            }
            Some(_) => self.send(context, cached, now_ns, least_loaded),
        }
    }

    /// Sends a packet out of the cache by the port that it is at, with a copy as of any other.
    fn send(&mut self, context: &mut Context<'_>, cached: CacheMetadata, now_ns: u32, least_loaded: PortId) -> Verdict {
        self.counters.cached.remove(context.now(), context.packet().frame_bytes);
        context.packet().remove_shim::<CacheMetadata>();
        let copy = CacheMetadata { started_ns: now_ns, is_kept_back: false, skip: None, ..cached };
        if !self.is_protected[usize::from(context.port().0)] {
            self.order.retire(context.pass(), &copy);
        } else if self.may_copy(context, least_loaded) {
            self.copy(context, copy, least_loaded);
        } else {
            self.counters.port(cached.primary).unprotected += 1;
            self.order.note_missing(context.pass(), &copy);
        }
        context.release();
        Verdict::Continue
    }

    fn retire(&mut self, context: &mut Context<'_>, cached: &CacheMetadata) -> Verdict {
        self.order.retire(context.pass(), cached);
        self.counters.port(cached.primary).retired += 1;
        self.counters.cached.remove(context.now(), context.packet().frame_bytes);
        Verdict::Drop(DropReason::CopyRetired)
    }

    /// Back to waiting: in the ring, by way of `ring`, or for `remaining_ns` if the traffic manager can hold packets.
    fn go_round(&self, ring: PortId, remaining_ns: u32) -> Verdict {
        match self.config.settings.caching {
            SqrCaching::Ring => self.forward(ring),
            SqrCaching::DelayQueue => {
                let duration = Duration::from_ns(u64::from(remaining_ns.max(1)));
                Verdict::Hold { port: ring, queue: self.caching_queue(ring), duration }
            }
        }
    }

    fn wait_at_home(&self, primary: PortId, tag: u32) -> Verdict {
        Verdict::Forward { port: primary, queue: self.home.queue(primary, tag) }
    }

    /// The order goes on at `next`: serves its home queue, or all queues when every copy has been sent.
    fn open_next(&mut self, context: &mut Context<'_>, primary: PortId, next: u32) {
        if self.order.has_passed_copies(context.pass(), primary, next) {
            context.scheduler(primary).release_hosts();
        } else if self.home.queue(primary, next) != self.home.queue(primary, next.wrapping_sub(1)) {
            context.scheduler(primary).hold_hosts_but(&[self.home.queue(primary, next)]);
        }
    }

    fn forward(&self, port: PortId) -> Verdict {
        Verdict::Forward { port, queue: self.caching_queue(port) }
    }

    fn caching_queue(&self, port: PortId) -> QueueId {
        self.caching_queues[usize::from(port.0)]
    }

    /// Whether the queue that the packet was last sent to is the home of copies of `primary`.
    fn is_for_home(&self, packet: &Packet, primary: PortId) -> bool {
        packet.egress_port == primary && self.home.contains(primary, packet.queue)
    }

    /// How long no copy leaves at most, unless none is left: until they are due, and as long as the ring needs to go
    /// round once. It holds twice what a port sends in the steady delay, and has an eleventh of a busy port.
    fn patience(&self) -> Duration {
        let until_due = match self.config.settings.release {
            SqrRelease::AfterDelay => self.failure_delay,
            SqrRelease::WhenRerouted => self.steady_delay,
        };
        until_due + Duration(self.steady_delay.as_ps().saturating_mul(ROUND_IN_DELAYS))
    }

    fn follow(&mut self, change: PathChange, context: &mut Context<'_>) {
        match change {
            PathChange::Lost(primary) => {
                self.counters.port(primary).failures += 1;
                self.order.rewind(primary);
                context.scheduler(primary).hold_hosts_but(&[]);
            }
            PathChange::Found { primary, number } => {
                self.order.restart_wait(primary);
                if self.order.has_copies_to_send(primary) {
                    let next = self.order.next(primary);
                    context.scheduler(primary).hold_hosts_but(&[self.home.queue(primary, next)]);
                    self.looked_at[usize::from(primary.0)] = Look { next, idle: 0 };
                    self.look_later(primary, number, context);
                } else {
                    context.scheduler(primary).release_hosts();
                }
            }
            PathChange::Moving { primary, number } => {
                context.scheduler(primary).hold_hosts_but(&[]);
                self.hold_longer(primary, number, context);
            }
        }
    }

    /// Until those on the longer way have arrived, or a failure of it is known.
    fn hold_longer(&mut self, primary: PortId, number: u16, context: &mut Context<'_>) {
        self.moved[usize::from(primary.0)].begin_hold();
        let hold = self.config.settings.return_hold();
        context.wake_at(context.now() + hold, u32::from(primary.0) << 16 | u32::from(number));
    }

    fn look_later(&mut self, primary: PortId, number: u16, context: &mut Context<'_>) {
        context.wake_at(context.now() + self.steady_delay, LOOK | u32::from(primary.0) << 16 | u32::from(number));
    }

    /// Steps over copies that are missing and would stand at the head of a queue that is not served. When no copy has
    /// left for long, gives up those that are left: packets must not stand still for a copy that nobody has.
    fn look_after_copies(&mut self, primary: PortId, number: u16, context: &mut Context<'_>) {
        if !self.ways.is_latest(primary, number) {
            return;
        }
        let stepped_over = self.order.step_over_missing(primary);
        self.counters.port(primary).skipped += u64::from(stepped_over);
        if self.order.has_copies_to_send(primary) {
            let next = self.order.next(primary);
            if stepped_over > 0 {
                context.scheduler(primary).hold_hosts_but(&[self.home.queue(primary, next)]);
            }
            let look = &mut self.looked_at[usize::from(primary.0)];
            let idle = if look.next == next { look.idle.saturating_add(1) } else { 0 };
            *look = Look { next, idle };
            if self.steady_delay.as_ps().saturating_mul(u64::from(idle)) < self.patience().as_ps() {
                return self.look_later(primary, number, context);
            }
            self.counters.port(primary).skipped += u64::from(self.order.give_up(primary));
        }
        context.scheduler(primary).release_hosts();
    }
}

impl Mechanism for Sqr {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        let line_ports = usize::from(self.config.line_ports);
        self.caching_queues = queue_counts[..line_ports].iter().map(|&count| QueueId(count as u8)).collect();
        let first_homes = self.caching_queues.iter().map(|queue| QueueId(queue.0 + 1)).collect();
        self.home = HomeQueues::new(first_homes, self.config.copies_max());
        let ports = (0..self.config.line_ports).map(PortId);
        let queues = |port: PortId| {
            let quantum_bytes = self.config.ring_share(port).quantum_bytes;
            let home = QueueConfig { quantum_bytes, ..QueueConfig::normal(QueueLimit::Unlimited) };
            let homes = if self.is_protected[usize::from(port.0)] { usize::from(HOME_QUEUES) } else { 0 };
            let ring = std::iter::once(home.of_mechanism());
            ring.chain(std::iter::repeat_n(home, homes)).map(move |queue| (port, queue))
        };
        Needs {
            hooks: ports.clone().map(|port| (port, HookSet::EGRESS)).collect(),
            queues: ports.flat_map(queues).collect(),
            ..Needs::default()
        }
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        if context.is_mine() { self.judge_cached(context) } else { self.judge_original(context) }
    }

    fn on_tm_drop(&mut self, _reason: DropReason, context: &mut Context<'_>) -> Verdict {
        let cached: CacheMetadata = context.packet().shims.get().expect("a cached packet has its metadata");
        if cached.is_kept_back && !self.is_for_home(context.packet(), cached.primary) {
            self.moved[usize::from(cached.primary.0)].remove();
        }
        self.order.withdraw(context.pass(), &cached);
        self.counters.cached.remove(context.now(), context.packet().frame_bytes);
        let counters = self.counters.port(cached.primary);
        let refused = if cached.is_kept_back { &mut counters.kept_back_refused } else { &mut counters.copies_refused };
        *refused += 1;
        Verdict::Continue
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        match event {
            Event::PortState { port, state } => {
                for change in self.ways.set_state(port, state) {
                    self.follow(change, context);
                }
            }
            Event::Timer(token) => self.end_wait(token, context),
            _ => {}
        }
    }

    fn resources(&self) -> Resources {
        let registers = self.utilization.stated().chain(self.ways.stated()).chain(self.order.stated());
        let own_queues = self.caching_queues.iter().map(|queue| u64::from(queue.0)).sum();
        resources::resources(&self.config, registers, own_queues)
    }

    fn report(&self, _now: Time) -> Report {
        self.counters.report(&self.config.protected)
    }
}

impl Sqr {
    /// A timer has run out.
    fn end_wait(&mut self, token: u32, context: &mut Context<'_>) {
        let (primary, number) = (PortId(((token & !LOOK) >> 16) as u16), token as u16);
        if token & LOOK != 0 {
            self.look_after_copies(primary, number, context);
        } else if self.moved[usize::from(primary.0)].may_be_overtaken() {
            self.hold_longer(primary, number, context);
        } else if let Some(change) = self.ways.finish_move(primary, number) {
            self.follow(change, context);
        }
    }
}
