//! The mechanisms that a switch can run, one folder each, and the list of them.
//!
//! A new mechanism is a new folder and one line in [`mechanism_list`].

pub mod afq;
pub mod bolt;
mod by_port;
mod configured_ports;
pub mod deflection;
mod detours;
pub mod link_layer_retry;
pub mod linkguardian;
mod neighbours;
pub mod rank_guard;
pub mod rimm;
pub mod sqr;
pub mod trimming;
pub mod vertigo;
pub mod wharf;

use hitless_switch::{
    Context, DropReason, Environment, Mechanism, PortState, Report, Resources, Subscriptions, Verdict,
};
use hitless_wire::{OrderedSet, PortId, QueueId, Time};

pub use afq::Afq;
pub use bolt::Bolt;
pub use deflection::{Aifo, Dibs, Pabo, PreemptiveDeflection, SimpleDeflection};
pub use link_layer_retry::LinkLayerRetry;
pub use linkguardian::LinkGuardian;
pub use rank_guard::RankGuard;
pub use rimm::Rimm;
pub use sqr::Sqr;
pub use trimming::Trimming;
pub use vertigo::Vertigo;
pub use wharf::Wharf;

/// Makes the enum of all mechanisms, which hands every hook to the one it holds.
macro_rules! mechanism_list {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Any of the mechanisms.
        pub enum AnyMechanism {
            $($(#[$doc])* $name(Box<$name>),)+
        }

        $(impl From<$name> for AnyMechanism {
            fn from(mechanism: $name) -> Self {
                Self::$name(Box::new(mechanism))
            }
        })+

        impl Mechanism for AnyMechanism {
            fn subscriptions(&mut self, queue_counts: &[usize]) -> Subscriptions {
                match self { $(Self::$name(mechanism) => mechanism.subscriptions(queue_counts)),+ }
            }
            fn report(&self, now: Time) -> Report {
                match self { $(Self::$name(mechanism) => mechanism.report(now)),+ }
            }
            fn resources(&self) -> Resources {
                match self { $(Self::$name(mechanism) => mechanism.resources()),+ }
            }
            fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
                match self { $(Self::$name(mechanism) => mechanism.start(context)),+ }
            }
            fn link_receive<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
                match self { $(Self::$name(mechanism) => mechanism.link_receive(context)),+ }
            }
            fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
                match self { $(Self::$name(mechanism) => mechanism.ingress(context)),+ }
            }
            fn egress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
                match self { $(Self::$name(mechanism) => mechanism.egress(context)),+ }
            }
            fn link_transmit<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
                match self { $(Self::$name(mechanism) => mechanism.link_transmit(context)),+ }
            }
            fn timer<E: Environment>(&mut self, token: u32, context: &mut Context<'_, E>) {
                match self { $(Self::$name(mechanism) => mechanism.timer(token, context)),+ }
            }
            fn drained<E: Environment>(&mut self, port: PortId, queue: QueueId, context: &mut Context<'_, E>) {
                match self { $(Self::$name(mechanism) => mechanism.drained(port, queue, context)),+ }
            }
            fn refused<E: Environment>(&mut self, reason: DropReason, context: &mut Context<'_, E>) -> Verdict {
                match self { $(Self::$name(mechanism) => mechanism.refused(reason, context)),+ }
            }
            fn port_state<E: Environment>(&mut self, port: PortId, state: PortState, context: &mut Context<'_, E>) {
                match self { $(Self::$name(mechanism) => mechanism.port_state(port, state, context)),+ }
            }
            fn corrupted<E: Environment>(&mut self, port: PortId, context: &mut Context<'_, E>) {
                match self { $(Self::$name(mechanism) => mechanism.corrupted(port, context)),+ }
            }
            fn ordered_set<E: Environment>(&mut self, port: PortId, set: OrderedSet, context: &mut Context<'_, E>) {
                match self { $(Self::$name(mechanism) => mechanism.ordered_set(port, set, context)),+ }
            }
            fn command<E: Environment>(&mut self, command: u32, context: &mut Context<'_, E>) {
                match self { $(Self::$name(mechanism) => mechanism.command(command, context)),+ }
            }
        }
    };
}

mechanism_list! {
    /// Link-local retransmission for links that corrupt packets.
    LinkGuardian,
    /// Copies of recently sent packets, sent again on the backup path when a link fails.
    Sqr,
    /// Ultra Ethernet's Link Layer Retry: go-back-N between the two ends of a link.
    LinkLayerRetry,
    /// Forward error correction across the frames of a link.
    Wharf,
    /// Approximate fair queueing: a sketch of bids and a queue for each of the next rounds.
    Afq,
    /// Bolt's switch: notices to senders, and who may send more.
    Bolt,
    /// Detour-induced buffer sharing: a packet whose queue is full goes to a random neighbour.
    Dibs,
    /// Packets of full queues to the next neighbour that is not full, from a random one on.
    SimpleDeflection,
    /// Packets of low relative priority to a neighbour before the queue is full.
    PreemptiveDeflection,
    /// Admission by quantile: packets that a sorted queue would not serve soon are dropped.
    Aifo,
    /// Packets of queues that fill up bounce back to where they came from.
    Pabo,
    /// A guard at the edge against hosts that lie about their priority.
    RankGuard,
    /// Microbursts detoured to a neighbour and released in order.
    Rimm,
    /// Refused packets cut to their headers, which go first.
    Trimming,
    /// Queues sorted by urgency, and deflection of what has to leave them.
    Vertigo,
}
