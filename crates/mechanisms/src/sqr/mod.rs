//! SQR, Shared Queue Ring: a switch recovers packets from link failures (Qu, Joshi, Chan, Leong, Guo, Liu; ICNP 2019;
//! sections as printed there).
//!
//! Egress keeps a copy of every protected packet until no failure can have lost the original. After a failure it sends
//! the copies in order on the backup path. A copy waits in FIFO queues by circulating: out of a queue, through egress,
//! and back into the queue of the [least loaded port](utilization). [`clock`] is the paper's algorithm 1, [`order`] its
//! algorithm 3; algorithm 2 is [`Sqr::judge_original`] and [`Sqr::judge_cached`]. Read these two functions first, then
//! [`order`].
//!
//! Choices that the paper leaves open, or that its algorithms need to lose and reorder no packet:
//! - If a port comes back (ShareBackup), algorithm 2 would drop the copies that must be sent. Here the order decides:
//!   unsent copies go first, and new packets queue up behind them.
//! - A packet sent from the cache is copied again, so that it survives a second failure.
//! - Without a path, and until the copies are sent, new packets wait in the queues of host packets at the primary port,
//!   which are stopped. There they keep their order, get congestion marks, and cost no pass of egress: the backlog
//!   falls at the line rate minus the load.
//! - Unsent copies wait in the [`home`] queues of the primary port, and leave them in order.
//! - Copies also look for a less loaded port ([`utilization`]), because an idle port has no original to report its
//!   load.
//! - With local rerouting, egress moves packets to the backup port until the primary is up again. New packets then wait
//!   for [`SqrSettings::return_hold`] after the last [`moved`] packet, so that none overtakes packets on the longer
//!   path.
//! - Moved packets wait in the queue of their class at the backup port. They are copied there if its link is protected
//!   too (algorithm 2 copies nothing on a backup path), so that they survive a second failure.
//! - Unprotected packets are moved to the backup port too.
//!
//! Packets of some classes need no order: see [`any_order`].

mod any_order;
mod backup_paths;
mod check;
mod clock;
pub mod config;
mod constant_rates;
mod counters;
mod crossing;
#[cfg(test)]
mod every_way;
mod home;
mod kind;
pub mod metadata;
mod order;
mod resources;
mod settings;
mod timer;
mod two_failures;
mod unheld;
mod utilization;

use crate::sqr::metadata::CacheMetadata;
use hitless_core::wire::{Duration, Packet, PortId, QueueId, Time};
use hitless_switch::canary::{Canary, sings};
use hitless_switch::{
    Context, DropReason, Event, Mechanism, Needs, QueueConfig, QueueLimit, Report, Resources, TimerToken, Verdict,
};

use any_order::AnyOrder;
use backup_paths::{BackupPaths, MovedPackets, PathChange};
pub use clock::Clock;
pub use config::{RingShare, SqrConfig};
use counters::SwitchCounters;
use home::{HOME_QUEUES, HomeQueues};
use order::{CachedTurn, OriginalTurn, PacketOrder};
pub use settings::{SqrBackstop, SqrCaching, SqrRelease, SqrSettings};
use timer::Timer;
use utilization::Utilization;

/// The role of a packet in the order.
const CACHED: u8 = 1;
/// The role of a copy of a packet that needs no order.
const ANY_ORDER: u8 = 2;

/// The minimum wait for a packet that may be missing. It is longer than the round of any copy, even among thousands of
/// copies on a busy port.
const STALL_NS: u32 = 10_000_000;

/// The reciprocal of the ring's share of a busy port's time.
const RING_SHARE: u64 = 11;

/// The time of a round of the fullest ring on busy ports, as a multiple of the steady delay.
const ROUND_IN_DELAYS: u64 = 32;

/// The progress of a port's order when the control plane last looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
struct Look {
    next: u32,
    /// The number of looks without progress.
    idle: u32,
}

#[derive(Debug, hitless_core::state::State)]
pub struct Sqr {
    #[configured]
    config: SqrConfig,
    #[configured]
    clock: Clock,
    steady_delay: Duration,
    failure_delay: Duration,
    steady_delay_ns: u32,
    failure_delay_ns: u32,
    /// The age above which a copy that needs no order is not sent.
    any_order_age_ns: u32,
    is_protected: Vec<bool>,
    /// The ring's queue, by port. The home queues of a protected port follow it.
    caching_queues: Vec<QueueId>,
    #[part]
    home: HomeQueues,
    /// The last look at a port's order while its copies are sent, by port.
    looked_at: Vec<Look>,
    /// Packets waiting at the backup, by primary port.
    moved: Vec<MovedPackets>,
    #[part]
    utilization: Utilization,
    #[part]
    ways: BackupPaths,
    #[part]
    order: PacketOrder,
    #[part]
    any_order: AnyOrder,
    is_paused_by_backstop: bool,
    counters: SwitchCounters,
}

impl Sqr {
    /// SQR with an empty cache.
    pub fn new(config: SqrConfig) -> Self {
        Self::with_first_tag(config, 0)
    }

    /// Like [`Sqr::new`], with `first_tag` for the first packet of each port, so that tests can let tags wrap.
    pub fn with_first_tag(config: SqrConfig, first_tag: u32) -> Self {
        let ports = usize::from(config.line_ports);
        let settings = &config.settings;
        let clock = Clock::new(settings.clock_bits);
        let (steady_delay, failure_delay) = settings.delays();
        let failure_delay_ns = clock.ticks(failure_delay);
        // The stall time only has to be long. It is not from the paper, where the order never skips a packet.
        let stall_timeout_ns = failure_delay_ns.saturating_mul(4).max(STALL_NS);
        let window_ns = clock.ticks(settings.utilization_window);
        let any_order_age = settings.any_order_age.filter(|&age| age < clock.longest());
        Self {
            clock,
            steady_delay,
            failure_delay,
            steady_delay_ns: clock.ticks(steady_delay) / if sings(Canary::EarlyForget) { 4 } else { 1 },
            failure_delay_ns,
            any_order_age_ns: any_order_age.map_or(u32::MAX, |age| clock.ticks(age)),
            is_protected: (0..config.line_ports).map(|port| config.protected.contains(&PortId(port))).collect(),
            caching_queues: Vec::new(),
            home: HomeQueues::default(),
            looked_at: vec![Look::default(); ports],
            moved: vec![MovedPackets::default(); ports],
            utilization: Utilization::new(ports, &config.caching_ports, window_ns),
            ways: BackupPaths::new(ports, &config.protected),
            order: PacketOrder::new(ports, stall_timeout_ns, first_tag),
            any_order: AnyOrder::new(ports, settings.any_order.as_deref().unwrap_or_default()),
            is_paused_by_backstop: false,
            counters: SwitchCounters::new(ports),
            config,
        }
    }

    /// Runs algorithm 2 for an original packet.
    fn judge_original(&mut self, context: &mut Context<'_>) -> Verdict {
        let (port, now_ns) = (context.port(), self.clock.now_ns(context));
        let bytes = context.packet().frame_bytes;
        // Unprotected originals count too: the utilization is that of the whole port (section III-D).
        let least_loaded = self.utilization.note(context.pass(), port, bytes, now_ns, self.clock);
        if !self.is_protected[usize::from(port.0)] {
            return Verdict::Continue;
        }
        if self.any_order.contains(context.packet().class) {
            return self.judge_any_order(context, least_loaded);
        }
        let is_marked = self.is_marked(context);
        // The order needs to know now whether a copy will exist: a packet that leaves without a copy gets no tag, since
        // nothing could answer for that tag later (section III-E).
        let may_copy = is_marked && self.admit_copy(context, least_loaded);
        let way = self.ways.way(context.pass(), port);
        if !is_marked {
            return self.send_unmarked(context, way);
        }
        self.counters.port(port).marked += 1;
        let metadata = |tag| CacheMetadata { tag, started_ns: now_ns, primary: port, is_kept_back: false, skip: None };
        // Towards the backup the packet itself is in the cache until it is sent there, so that it needs no copy now.
        let backup = way.filter(|&way| way != port);
        match (self.order.original(context.pass(), port, way.is_some(), may_copy || backup.is_some()), backup) {
            (OriginalTurn::Direct(tag), None) => {
                self.copy(context, metadata(tag), least_loaded, CACHED);
                Verdict::Continue
            }
            (OriginalTurn::Direct(tag), Some(backup)) => {
                self.counters.port(port).moved += 1;
                self.hold_only_copy(context, metadata(tag));
                self.move_on(context, port, backup)
            }
            (OriginalTurn::Unprotected, _) => {
                self.counters.port(port).note_unprotected();
                Verdict::Continue
            }
            // The packet becomes its own only copy: it waits in its home queue and carries the metadata.
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
        // A kept-back packet comes to egress from a home queue, or from a queue of the backup after a move.
        let has_moved = cached.is_kept_back && !is_at_home;
        let least_loaded = if has_moved {
            self.moved[usize::from(cached.primary.0)].remove();
            self.utilization.note(context.pass(), port, bytes, now_ns, self.clock)
        } else {
            self.look_for_port(context, cached.tag, now_ns)
        };
        let way = self.ways.way(context.pass(), cached.primary);
        self.counters.port(cached.primary).passes += 1;
        let age_ns = self.clock.elapsed_ns(cached.started_ns, now_ns);
        // A packet that was kept back was never sent, so that no failure can have lost it: it need not wait for the
        // failure delay, which counts from the sending of the original (section III-C).
        let is_old_enough = cached.is_kept_back
            || self.config.settings.release == SqrRelease::WhenRerouted
            || age_ns >= self.failure_delay_ns;
        // A copy leaves from a home queue only. A copy in the ring moves there first (`CachedTurn::Waiting`), which
        // sorts it.
        let may_leave = is_old_enough && is_at_home && way.is_some();
        let (turn, skipped) = self.order.cached(context.pass(), &cached, may_leave);
        self.counters.port(cached.primary).skipped += u64::from(skipped);
        // The order has advanced, so that another home queue may have the next tag.
        if let Some(next) = turn.next(cached.tag).filter(|_| skipped > 0 || turn == CachedTurn::Due) {
            self.open_next(context, cached.primary, next);
        }
        match turn {
            CachedTurn::Sent if has_moved => self.send(context, cached, now_ns, least_loaded),
            CachedTurn::Sent if cached.is_kept_back => self.leave(context, cached, now_ns, least_loaded, way),
            // Algorithm 2, lines 3 to 7: a copy of a sent packet goes round until it is old enough, and is then
            // dropped.
            CachedTurn::Sent if age_ns >= self.steady_delay_ns => self.retire(context, &cached),
            CachedTurn::Sent => self.go_round(least_loaded, self.steady_delay_ns - age_ns),
            CachedTurn::Due => self.leave(context, cached, now_ns, least_loaded, way),
            CachedTurn::Waiting { next } => {
                self.counters.port(cached.primary).kept_back += u64::from(has_moved);
                // Only a packet that may leave counts as waiting: the stall timer must not run while copies are not
                // due yet.
                if may_leave {
                    // Not the configurable clock: the stall time can exceed the range of a short one.
                    let stall_now_ns = context.timestamp_ns() as u32;
                    cached.skip = self.order.wait(context.pass(), &cached, next, stall_now_ns);
                    context.packet().shims.replace(cached);
                }
                self.wait_at_home(cached.primary, cached.tag)
            }
        }
    }

    /// Returns the least loaded port, and looks at another port first (`finds_idle_ports`).
    fn look_for_port(&mut self, context: &mut Context<'_>, tag: u32, now_ns: u32) -> PortId {
        if self.config.settings.finds_idle_ports {
            self.utilization.look(context.pass(), tag, now_ns, self.clock)
        } else {
            self.utilization.least_loaded(context.pass())
        }
    }

    fn is_marked(&self, context: &mut Context<'_>) -> bool {
        let class = context.packet().class;
        self.config.settings.protects(class, || context.service_key())
    }

    /// Moves the backstop (section VI, "Handling Traffic Surges"); returns whether it allows a copy and the ring has
    /// room.
    fn admit_copy(&mut self, context: &mut Context<'_>, towards: PortId) -> bool {
        let limit_bytes = self.config.ring_share(towards).limit_bytes;
        if context.queue(towards, self.caching_queue(towards)).bytes() >= limit_bytes {
            return false;
        }
        if let Some(backstop) = self.config.settings.backstop {
            // Two thresholds, so that caching does not stop and start with each packet.
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

    fn move_to(&self, context: &mut Context<'_>, way: PortId) -> Verdict {
        let class = context.packet().class;
        Verdict::Forward { port: way, queue: context.ports().class_queue(way, class) }
    }

    /// Moves a packet of the cache from `primary` to the port of its way.
    fn move_on(&mut self, context: &mut Context<'_>, primary: PortId, way: PortId) -> Verdict {
        self.moved[usize::from(primary.0)].add();
        self.move_to(context, way)
    }

    /// Puts the packet itself into the cache.
    fn hold_only_copy(&mut self, context: &mut Context<'_>, metadata: CacheMetadata) {
        self.counters.cached.add(context.now(), context.packet().frame_bytes);
        context.adopt(CACHED);
        let metadata = CacheMetadata { is_kept_back: true, ..metadata };
        context.packet().push_shim(metadata).expect("a packet in egress has room");
    }

    fn copy(&mut self, context: &mut Context<'_>, metadata: CacheMetadata, towards: PortId, role: u8) {
        let bytes = context.packet().frame_bytes;
        let queue = self.caching_queue(towards);
        // Egress cloning makes the copy, and the original leaves at once (section III-F).
        let edit = |packet: &mut Packet| packet.push_shim(metadata).expect("a packet in egress has room");
        let admitted = match self.config.settings.caching {
            SqrCaching::Ring => {
                context.queue(towards, queue).mirror(role, edit);
                Ok(())
            }
            SqrCaching::DelayQueue => {
                let delay = Duration::from_ns(u64::from(self.steady_delay_ns));
                context.queue(towards, queue).mirror_held(delay, role, edit)
            }
        };
        let counters = self.counters.port(metadata.primary);
        counters.copies += 1;
        match admitted {
            Ok(()) => self.counters.cached.add(context.now(), bytes),
            Err(_) => {
                counters.copies_refused += 1;
                if role == CACHED {
                    self.order.note_missing(context.pass(), &metadata);
                }
            }
        }
    }

    /// Lets a packet leave its home in its turn, through its own port or to the backup.
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

    /// Sends a packet from the cache through the current port, with a copy like any other.
    fn send(&mut self, context: &mut Context<'_>, cached: CacheMetadata, now_ns: u32, least_loaded: PortId) -> Verdict {
        self.counters.cached.remove(context.now(), context.packet().frame_bytes);
        context.packet().remove_shim::<CacheMetadata>();
        let copy = CacheMetadata { started_ns: now_ns, is_kept_back: false, skip: None, ..cached };
        // A packet that leaves on an unprotected link has no copy, and its tag is done.
        if !self.is_protected[usize::from(context.port().0)] {
            self.order.retire(context.pass(), &copy);
        } else if self.admit_copy(context, least_loaded) {
            self.copy(context, copy, least_loaded, CACHED);
        } else {
            self.counters.port(cached.primary).note_unprotected();
            self.order.note_missing(context.pass(), &copy);
        }
        context.release();
        Verdict::Continue
    }

    fn retire(&mut self, context: &mut Context<'_>, cached: &CacheMetadata) -> Verdict {
        self.order.retire(context.pass(), cached);
        self.end_copy(context, cached.primary)
    }

    fn end_copy(&mut self, context: &mut Context<'_>, primary: PortId) -> Verdict {
        self.counters.port(primary).retired += 1;
        self.counters.cached.remove(context.now(), context.packet().frame_bytes);
        Verdict::Drop(DropReason::CopyRetired)
    }

    /// Sends a copy to wait in the ring, through `ring`, or for `remaining_ns` if the traffic manager can hold packets.
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

    /// Continues the order at `next`: serves its home queue, or all queues once every copy is sent.
    fn open_next(&mut self, context: &mut Context<'_>, primary: PortId, next: u32) {
        // Behind the last copy come packets in their order of arrival: the home queues no longer sort them.
        if self.order.check_copies_passed(context.pass(), primary, next) {
            context.scheduler(primary).release_hosts();
        } else if self.home.queue(primary, next) != self.home.queue(primary, next.wrapping_sub(1)) {
            self.hold_all_but(Some(self.home.queue(primary, next)), primary, context);
        }
    }

    fn forward(&self, port: PortId) -> Verdict {
        Verdict::Forward { port, queue: self.caching_queue(port) }
    }

    fn caching_queue(&self, port: PortId) -> QueueId {
        self.caching_queues[usize::from(port.0)]
    }

    fn is_for_home(&self, packet: &Packet, primary: PortId) -> bool {
        packet.egress_port == primary && self.home.contains(primary, packet.queue)
    }

    /// The maximum time without a departing copy while copies are left: until they are due, and one round of the ring.
    /// The ring holds twice the bytes that a port sends in the steady delay, and gets an eleventh of a busy port.
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
                // Serve nothing at this port: originals behind the failure must not overtake the copies (section
                // III-E).
                self.order.rewind(primary);
                self.hold_all_but(None, primary, context);
            }
            PathChange::Found { primary, number } => {
                // The outage itself is no stall of the order.
                self.order.restart_wait(primary);
                if self.order.has_copies_to_send(primary) {
                    let next = self.order.next(primary);
                    self.hold_all_but(Some(self.home.queue(primary, next)), primary, context);
                    // Egress steps over a missing tag only if a packet waits in the served home queue. The control
                    // plane covers the case of an empty queue.
                    self.looked_at[usize::from(primary.0)] = Look { next, idle: 0 };
                    self.look_later(primary, number, context);
                } else {
                    context.scheduler(primary).release_hosts();
                }
            }
            PathChange::Moving { primary, number } => {
                self.hold_all_but(None, primary, context);
                self.hold_longer(primary, number, context);
            }
        }
    }

    /// Waits until the packets on the longer way have arrived, or its failure is known.
    fn hold_longer(&mut self, primary: PortId, number: u16, context: &mut Context<'_>) {
        self.moved[usize::from(primary.0)].begin_hold();
        let hold = self.config.settings.return_hold();
        context.wake_at(context.now() + hold, Timer::Hold { primary, number });
    }

    fn look_later(&mut self, primary: PortId, number: u16, context: &mut Context<'_>) {
        context.wake_at(context.now() + self.steady_delay, Timer::Look { primary, number });
    }

    /// Steps over missing copies at the head of a queue that is not served. Gives up the remaining copies if none has
    /// left for a long time: packets must not wait for a copy that no longer exists.
    fn look_after_copies(&mut self, primary: PortId, number: u16, context: &mut Context<'_>) {
        // A later change of the path has its own timer.
        if !self.ways.is_latest(primary, number) {
            return;
        }
        let stepped_over = self.order.step_over_missing(primary);
        self.counters.port(primary).skipped += u64::from(stepped_over);
        if self.order.has_copies_to_send(primary) {
            let next = self.order.next(primary);
            if stepped_over > 0 {
                self.hold_all_but(Some(self.home.queue(primary, next)), primary, context);
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
        // Queues are numbered in the order of the requests below: the ring's, then the home queues.
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
            hooks: ports.clone().map(|port| (port, self.hooks(port))).collect(),
            queues: ports.flat_map(queues).collect(),
            ..Needs::default()
        }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.steer(context)
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        if !context.is_mine() {
            self.judge_original(context)
        } else if context.packet().role == ANY_ORDER {
            self.judge_any_order_copy(context)
        } else {
            self.judge_cached(context)
        }
    }

    fn on_tm_drop(&mut self, _reason: DropReason, context: &mut Context<'_>) -> Verdict {
        let cached: CacheMetadata = context.packet().shims.get().expect("a cached packet has its metadata");
        if context.packet().role == CACHED {
            // A moved packet found no room at the backup.
            if cached.is_kept_back && !self.is_for_home(context.packet(), cached.primary) {
                self.moved[usize::from(cached.primary.0)].remove();
            }
            // The tag must not be waited for: its packet no longer exists.
            self.order.withdraw(context.pass(), &cached);
        }
        self.counters.cached.remove(context.now(), context.packet().frame_bytes);
        let counters = self.counters.port(cached.primary);
        let refused = if cached.is_kept_back { &mut counters.kept_back_refused } else { &mut counters.copies_refused };
        *refused += 1;
        Verdict::Continue
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        match event {
            Event::PortState { port, state } => self.follow_port(port, state, context),
            Event::Timer(token) => self.end_wait(token, context),
            _ => {}
        }
    }

    fn resources(&self) -> Resources {
        let registers = self.utilization.stated().chain(self.ways.stated()).chain(self.order.stated());
        let registers = registers.chain(self.any_order.stated());
        let own_queues = self.caching_queues.iter().map(|queue| u64::from(queue.0)).sum();
        resources::resources(&self.config, registers, own_queues)
    }

    fn report(&self, _now: Time) -> Report {
        self.counters.report(&self.config.protected)
    }
}

impl Sqr {
    fn end_wait(&mut self, token: u32, context: &mut Context<'_>) {
        match Timer::from_token(token) {
            Timer::Look { primary, number } => self.look_after_copies(primary, number, context),
            // Packets still wait at the backup, or have left it during this hold: hold again, or new packets would
            // overtake them.
            Timer::Hold { primary, number } if self.moved[usize::from(primary.0)].may_be_overtaken() => {
                self.hold_longer(primary, number, context);
            }
            Timer::Hold { primary, number } => {
                if let Some(change) = self.ways.finish_move(primary, number) {
                    self.follow(change, context);
                }
            }
        }
    }
}
