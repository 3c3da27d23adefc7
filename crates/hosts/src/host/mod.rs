//! All hosts of a partition: network cards, stacks and the flows between them, as one state machine without I/O.
//!
//! A driver owns a [`Hosts`], the clock and the packet store. It calls [`Hosts::receive`] when the last bit of a
//! packet has arrived at a host and [`Hosts::handle`] when an event comes due that was scheduled through its
//! [`HostEnvironment`]. A packet goes
//!
//! ```text
//! application -> transport -> [marking] -> [send delay] -> network card -> HostEnvironment::transmit
//! application <- transport <- [ordering] <- [receive delay] <- Hosts::receive
//! ```
//!
//! where a delay of zero takes no event, receive offload stands in the place of the receive delay, and the layers of marking and ordering are there only if asked for. A sender that could go on is held back while its card has a backlog, and
//! all that wait are served in turn, a packet each, when it has drained.
//!
//! Both ends of a flow live in the same `Hosts`, in one allocation that exists from the flow's start to its end. The
//! end is when the sender knows that everything has arrived: until then the receiver is there to acknowledge again.
//! Packets that arrive later are strays, counted and dropped.
//!
//! Not here yet: flows whose ends are in different partitions, pause frames from the switch.

mod appended;
mod connection;
mod exchange;
mod hosts;
mod marking;
mod network_card;
mod ordering;
mod payload;
mod progress;
mod receive_offload;
mod state;
mod timers;
mod wiring;

#[cfg(test)]
mod tests;

use hitless_engine::{PacketHandle, PacketStore};
use hitless_wire::{Duration, FlowId, HostId, Packet, Time};

pub use exchange::Timer;
pub use hosts::{HostTotals, Hosts};
pub use marking::{Marking, Rank};
pub use network_card::{NetworkCard, NetworkCardConfig, QueueCapacity};
pub use receive_offload::ReceiveOffloadConfig;

use crate::application::{FlowRecord, MessageRecord};
use crate::stack::StackConfig;

/// Parameters of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// The network card.
    pub network_card: NetworkCardConfig,
    /// Delays of packets whose transport is in the kernel or a program (TCP, UDP).
    pub kernel_stack: StackConfig,
    /// Packets for transports in the kernel wait for a poll, and data of TCP is merged. `None`: each goes up by itself.
    pub receive_offload: Option<ReceiveOffloadConfig>,
    /// Delays of packets whose transport is in the card (RoCE): descriptor fetch and DMA.
    pub network_card_stack: StackConfig,
    /// Whether the card's backlog holds back TCP too (Linux: TCP small queues). Without it TCP sends what its window
    /// allows, and the card's queue must hold that.
    pub hold_back_tcp: bool,
    /// Where the ticks of the host's timer interrupt fall; counts only for transports whose timers tick.
    pub timer_phase: Duration,
    /// Hops that its packets may take.
    pub time_to_live: u8,
    /// The ordering layer puts marked packets back into order, and waits so long for one that is missing. `None`: there
    /// is no such layer.
    pub ordering_timeout: Option<Duration>,
}

impl HostConfig {
    /// A host without stack delays.
    pub const fn with_network_card(network_card: NetworkCardConfig) -> Self {
        Self {
            network_card,
            kernel_stack: StackConfig::NONE,
            receive_offload: None,
            network_card_stack: StackConfig::NONE,
            hold_back_tcp: true,
            timer_phase: Duration::ZERO,
            time_to_live: Packet::INITIAL_TTL,
            ordering_timeout: None,
        }
    }
}

/// Something that happens at a host at a time. To be handed back to [`Hosts::handle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// A flow starts.
    FlowStart(FlowId),
    /// An unlimited flow stops writing.
    FlowStop(FlowId),
    /// No late datagrams are waited for any more.
    FlowEnd(FlowId),
    /// The gap before the next message is over.
    NextMessage(FlowId),
    /// The sender's timer.
    SenderTimer(FlowId),
    /// The receiver's timer.
    ReceiverTimer(FlowId),
    /// The timer of the receiving host's ordering layer.
    OrderingTimer(FlowId),
    /// A timer of the way of the request that the flow answers.
    RequestTimer(FlowId, Timer),
    /// The server begins its answer.
    Answer(FlowId),
    /// A packet has passed the receive delay.
    Deliver(PacketHandle),
    /// The kernel polls the ring in which packets for the sender wait.
    SenderPoll(FlowId),
    /// The same for packets for the receiver.
    ReceiverPoll(FlowId),
    /// A packet has passed the send delay.
    Emit(PacketHandle),
    /// The network card has drained: senders that wait may go on.
    CardDrained(HostId),
}

/// Why a host dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDrop {
    /// The network card's queue was full.
    NetworkCardFull,
    /// Its flow has ended: a late duplicate, as a rule.
    FlowEnded,
    /// The ordering layer held a copy of it.
    Duplicate,
}

/// What a driver does for hosts. No method may call back into [`Hosts`].
pub trait HostEnvironment {
    /// Where packets are kept.
    fn packets(&mut self) -> &mut PacketStore;

    /// Calls [`Hosts::handle`] with `event` at `at`, which is not in the past.
    ///
    /// Events of one host for the same time must be handled in the order in which they were scheduled: the order of a
    /// flow's packets depends on it. `host` is where it happens.
    fn schedule(&mut self, at: Time, host: HostId, event: HostEvent);

    /// Puts a packet on the host's link. Called in the order of departure.
    fn transmit(&mut self, host: HostId, packet: PacketHandle, last_bit_leaves_at: Time);

    /// A host drops a packet; the driver frees it.
    fn drop_packet(&mut self, host: HostId, packet: PacketHandle, reason: HostDrop);

    /// A message is complete.
    fn message_completed(&mut self, record: &MessageRecord);

    /// The flow of a message ends, or the run, and the message is not complete: what did not happen to it is at
    /// [`Time::NEVER`].
    fn message_unfinished(&mut self, record: &MessageRecord);

    /// A flow has ended.
    fn flow_finished(&mut self, record: &FlowRecord);

    /// A datagram has arrived, `delay` after it was sent: the place for a histogram. Does nothing by default.
    #[inline]
    fn datagram_delivered(&mut self, _flow: FlowId, _delay: Duration) {}
}
