//! What a mechanism is to the switch: hooks, verdicts and subscriptions.

use hitless_wire::{Duration, OrderedSet, PortId, QueueId, Time};

use crate::context::Context;
use crate::environment::Environment;
use crate::queueing::{QueueConfig, QueueGroup, QueueOrder};
use crate::report::Report;
use crate::resources::Resources;

/// A set of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookSet(u8);

impl HookSet {
    /// None.
    pub const NONE: HookSet = HookSet(0);
    /// [`Mechanism::link_receive`] for packets that enter by the port.
    pub const LINK_RECEIVE: HookSet = HookSet(1);
    /// [`Mechanism::ingress`] for packets that enter by the port.
    pub const INGRESS_FROM: HookSet = HookSet(2);
    /// [`Mechanism::ingress`] for packets that routing wants to send out of the port.
    pub const INGRESS_TOWARDS: HookSet = HookSet(4);
    /// [`Mechanism::egress`].
    pub const EGRESS: HookSet = HookSet(8);
    /// [`Mechanism::link_transmit`].
    pub const LINK_TRANSMIT: HookSet = HookSet(16);
    /// [`Mechanism::drained`].
    pub const DRAINED: HookSet = HookSet(32);
    /// [`Mechanism::refused`] for packets that nobody owns.
    pub const REFUSED: HookSet = HookSet(64);

    /// Both sets together.
    pub const fn with(self, other: HookSet) -> HookSet {
        HookSet(self.0 | other.0)
    }

    /// The names of the hooks in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        const NAMES: [(HookSet, &str); 7] = [
            (HookSet::LINK_RECEIVE, "link receive"),
            (HookSet::INGRESS_FROM, "ingress from a port"),
            (HookSet::INGRESS_TOWARDS, "ingress towards a port"),
            (HookSet::EGRESS, "egress"),
            (HookSet::LINK_TRANSMIT, "link transmit"),
            (HookSet::DRAINED, "a queue is drained"),
            (HookSet::REFUSED, "a packet is refused"),
        ];
        NAMES.into_iter().filter(move |(hook, _)| self.contains(*hook)).map(|(_, name)| name)
    }

    /// Whether all of `other` are in the set.
    pub const fn contains(self, other: HookSet) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What a mechanism needs of the ports of its switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subscriptions {
    /// Hooks per port.
    pub hooks: Vec<(PortId, HookSet)>,
    /// Queues that must exist besides those of the port's own configuration. Queues are numbered in the order in
    /// which they are asked for, after those of the configuration.
    pub queues: Vec<(PortId, QueueConfig)>,
    /// Ports of which the queues of the port's own configuration are served in that order.
    pub orders: Vec<(PortId, QueueOrder)>,
    /// Groups of queues, one for a port at most; their queues are numbered after all others of the port.
    pub groups: Vec<(PortId, QueueGroup)>,
}

/// What a hook decides about the packet before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Goes on its way.
    Continue,
    /// Goes to that queue at once; the remaining hooks of this half are skipped. In egress the hardware mirrors the
    /// packet and drops the original (SQR, section III-F): a move, which is neither a loss nor a new packet.
    Forward {
        /// The egress port.
        port: PortId,
        /// Its queue.
        queue: QueueId,
    },
    /// As [`Verdict::Forward`], to a queue that keeps the packet for a time before it may be served. From egress only;
    /// the traffic managers of today cannot do it (SQR, section VII: "a useful primitive for future switch ASICs").
    Hold {
        /// The egress port.
        port: PortId,
        /// Its queue.
        queue: QueueId,
        /// From now.
        duration: Duration,
    },
    /// Ends here, and why.
    Drop(DropReason),
}

/// Why a packet ended in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// Its queue was at its limit.
    QueueFull,
    /// The shared buffer had no room for its queue.
    BufferFull,
    /// No route to its destination.
    NoRoute,
    /// Its time to live ran out.
    TimeToLive,
    /// A mechanism gave it up: the packet is lost.
    Mechanism,
    /// It had been admitted, and made room for another in a full buffer.
    Evicted,
    /// It had waited too long in a queue whose delay is controlled.
    QueueingDelay,
    /// A second copy of a packet already forwarded; nothing is lost.
    Duplicate,
    /// A copy kept in case of a loss that did not happen; nothing is lost.
    CopyRetired,
    /// A control packet that has done its work; nothing is lost.
    ControlAbsorbed,
    /// Out of sequence on a link whose other end sends it again; nothing is lost.
    OutOfSequence,
}

impl DropReason {
    /// How many reasons there are.
    pub const COUNT: usize = 11;

    /// All reasons, in the order of their numbers.
    pub const ALL: [DropReason; Self::COUNT] = [
        DropReason::QueueFull,
        DropReason::BufferFull,
        DropReason::NoRoute,
        DropReason::TimeToLive,
        DropReason::Mechanism,
        DropReason::Evicted,
        DropReason::QueueingDelay,
        DropReason::Duplicate,
        DropReason::CopyRetired,
        DropReason::ControlAbsorbed,
        DropReason::OutOfSequence,
    ];

    /// Whether the packet of a flow was lost by it.
    pub const fn is_loss(self) -> bool {
        (self as u8) < DropReason::Duplicate as u8
    }

    /// The reason in plain words.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue full",
            DropReason::BufferFull => "shared buffer full",
            DropReason::NoRoute => "no route",
            DropReason::TimeToLive => "time to live",
            DropReason::Mechanism => "given up by a mechanism",
            DropReason::Evicted => "evicted from a full buffer",
            DropReason::QueueingDelay => "dropped for its queueing delay",
            DropReason::Duplicate => "duplicate removed",
            DropReason::CopyRetired => "copy retired",
            DropReason::ControlAbsorbed => "control packet absorbed",
            DropReason::OutOfSequence => "out of sequence, to be sent again",
        }
    }
}

/// The state of a port as the switch knows it: what failure detection and route recovery have told it, each after its
/// own delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortState {
    /// Its link is whole, and is the way of its packets.
    Up,
    /// The failure of its link has been detected, and no other way is known yet.
    Down,
    /// Route recovery has found a way: what would leave by the port shall leave by `backup`.
    Rerouted {
        /// The other port.
        backup: PortId,
    },
}

/// A mechanism: a state machine that the switch tells of packets and timers.
///
/// Every hook gets a [`Context`] with the time, the packet and what it may ask of the switch, and is generic over
/// the environment so that the same code runs under both clocks. A mechanism keeps no packet handles between calls:
/// what it stores, it stores in queues. A packet with an owner visits only its owner's hooks, whatever the
/// subscriptions, until that owner calls [`Context::release`].
pub trait Mechanism {
    /// What it needs; asked once, when the switch is built. `queue_counts` has the number of queues that each port
    /// has before the mechanism's own are added.
    fn subscriptions(&mut self, queue_counts: &[usize]) -> Subscriptions;

    /// Counters, histograms and broken promises; `now` is the end of the run.
    fn report(&self, now: Time) -> Report;

    /// What it takes of a real switch, but for the queues and hooks that it has subscribed to; asked after
    /// [`Self::subscriptions`]. Every register array is in it.
    fn resources(&self) -> Resources;

    /// The control plane's start: bootstrap packets and the like.
    fn start<E: Environment>(&mut self, _context: &mut Context<'_, E>) {}

    /// A good frame has come in; before routing.
    fn link_receive<E: Environment>(&mut self, _context: &mut Context<'_, E>) -> Verdict {
        Verdict::Continue
    }

    /// Routing has proposed an egress port and queue (for an owned packet: whatever its owner last set).
    fn ingress<E: Environment>(&mut self, _context: &mut Context<'_, E>) -> Verdict {
        Verdict::Continue
    }

    /// The packet has left its queue; queue depth is visible.
    fn egress<E: Environment>(&mut self, _context: &mut Context<'_, E>) -> Verdict {
        Verdict::Continue
    }

    /// The last hook before the MAC.
    fn link_transmit<E: Environment>(&mut self, _context: &mut Context<'_, E>) -> Verdict {
        Verdict::Continue
    }

    /// A timer of [`Context::wake_at`] has run out; a pass through ingress, like that of a generated packet.
    fn timer<E: Environment>(&mut self, _token: u32, _context: &mut Context<'_, E>) {}

    /// A queue has just been emptied: its last packet has left it to be sent.
    fn drained<E: Environment>(&mut self, _port: PortId, _queue: QueueId, _context: &mut Context<'_, E>) {}

    /// The traffic manager has refused a packet that the mechanism owns, or any that was to leave by a port whose
    /// refused packets it subscribed to; or it gives up one that it had admitted. A pass through egress, with the packet
    /// "deflected on drop". All who subscribed are told, and the first answer other than [`Verdict::Continue`] counts.
    ///
    /// A packet that goes on ends here. One that is forwarded tries the other queue at once, with what the hook made of
    /// it. That is its last try: if it is refused again the hooks are told again, [`Context::is_last_try`] is true, and
    /// the packet ends whatever they answer. So no packet goes round within a switch.
    fn refused<E: Environment>(&mut self, _reason: DropReason, _context: &mut Context<'_, E>) -> Verdict {
        Verdict::Continue
    }

    /// A port has changed its state.
    fn port_state<E: Environment>(&mut self, _port: PortId, _state: PortState, _context: &mut Context<'_, E>) {}

    /// A frame with a bad check sequence has come in by a port: the MAC has dropped it, and nothing else is known of it.
    fn corrupted<E: Environment>(&mut self, _port: PortId, _context: &mut Context<'_, E>) {}

    /// The partner of a port has sent a control ordered set.
    fn ordered_set<E: Environment>(&mut self, _port: PortId, _set: OrderedSet, _context: &mut Context<'_, E>) {}

    /// A command of the control plane; the meaning of the number is the mechanism's.
    fn command<E: Environment>(&mut self, _command: u32, _context: &mut Context<'_, E>) {}
}

/// The mechanism list of a switch that runs none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMechanism {}

impl Mechanism for NoMechanism {
    fn subscriptions(&mut self, _: &[usize]) -> Subscriptions {
        match *self {}
    }

    fn report(&self, _: Time) -> Report {
        match *self {}
    }

    fn resources(&self) -> Resources {
        match *self {}
    }
}
