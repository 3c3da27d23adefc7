//! Link Layer Retry of Ultra Ethernet 1.0 (LLR): go-back-N between the two ends of a link.
//!
//! The sending port numbers frames and keeps them in a replay buffer ([`transmitter`]). The receiving port accepts
//! frames only in order, and acknowledges, or asks for a replay, with control ordered sets ([`receiver`]). The receiver
//! holds nothing back and forwards nothing out of order.
//!
//! Sources are the public descriptions of the standard: the SAI proposal "Link Layer Retry" (states, actions, counters
//! and their meaning) and SONiC's design of the same name (profile, ranges and defaults). Choices that they leave open:
//! - All frames are eligible.
//! - LLR_INIT carries the number of the first frame and is repeated after `max_replay_timer`. FLUSH lasts as long, so
//!   that no earlier frame or set can be taken for a later one.
//! - The replay timer runs from the last progress: an acknowledgement that freed a frame, the end of a replay, or the
//!   first frame into an empty buffer. Every replay counts towards `max_replay_count` until one frees a frame.
//! - A corrupted frame is taken for the expected one as long as none is missing: a link keeps the order of its frames.
//! - A control ordered set leaves between two frames and takes eight bytes of line time. A link loses it as often as a
//!   frame, which is pessimistic.
//! - A replayed frame passes the egress latency again, which a buffer in the MAC would avoid.

#[cfg(test)]
mod every_way;
pub mod header;
mod kind;
mod receiver;
mod settings;
mod timer;
mod transmitter;

use crate::link_layer_retry::header::Control;
use hitless_core::wire::{OrderedSet, Packet, PortId, Time};
use hitless_switch::{Context, DropReason, Event, Mechanism, Needs, PortState, Report, Resources, TimerToken, Verdict};

use crate::by_port::ByPort;

use receiver::Receiver;
pub use settings::{LinkLayerRetryAction, LinkLayerRetrySettings};
use timer::Timer;
use transmitter::Transmitter;

#[derive(Default, hitless_core::state::State)]
struct Ends {
    #[part]
    transmitter: Option<Transmitter>,
    #[part]
    receiver: Option<Receiver>,
}

#[derive(Default, hitless_core::state::State)]
pub struct LinkLayerRetry {
    #[part]
    ports: ByPort<Ends>,
}

impl LinkLayerRetry {
    /// Makes `port` the sending end of a link with the settings of both ends.
    pub fn add_transmitter(&mut self, port: PortId, settings: &LinkLayerRetrySettings) {
        self.ends(port).transmitter = Some(Transmitter::new(port, settings));
    }

    /// Makes `port` the receiving end of a link with the settings of both ends.
    pub fn add_receiver(&mut self, port: PortId, settings: &LinkLayerRetrySettings) {
        self.ends(port).receiver = Some(Receiver::new(port, settings));
    }

    fn ends(&mut self, port: PortId) -> &mut Ends {
        self.ports.entry(port)
    }

    #[inline]
    fn transmitter_at(&mut self, port: PortId) -> Option<&mut Transmitter> {
        self.ports.get_mut(port)?.transmitter.as_mut()
    }

    #[inline]
    fn receiver_at(&mut self, port: PortId) -> Option<&mut Receiver> {
        self.ports.get_mut(port)?.receiver.as_mut()
    }
}

impl Mechanism for LinkLayerRetry {
    hitless_switch::is_its_own_state!();

    fn each_copy(&self, _now: Time, see: &mut dyn FnMut(&Packet)) {
        let transmitters = self.ports.iter().filter_map(|ends| ends.transmitter.as_ref());
        transmitters.for_each(|transmitter| transmitter.each_held(see));
    }

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        let mut wanted = Needs::default();
        for ends in self.ports.iter_mut() {
            if let Some(transmitter) = &mut ends.transmitter {
                transmitter.subscribe(queue_counts, &mut wanted);
            }
            if let Some(receiver) = &ends.receiver {
                receiver.subscribe(&mut wanted);
            }
        }
        wanted
    }

    fn rx(&mut self, context: &mut Context<'_>) -> Verdict {
        let port = context.port();
        match self.receiver_at(port) {
            Some(receiver) => receiver.take(context),
            None => Verdict::Continue,
        }
    }

    fn tx(&mut self, context: &mut Context<'_>) -> Verdict {
        let port = context.port();
        match self.transmitter_at(port) {
            Some(transmitter) if context.is_mine() => transmitter.replayed(context),
            Some(transmitter) => transmitter.send(context),
            None => Verdict::Continue,
        }
    }

    fn on_tm_drop(&mut self, _reason: DropReason, context: &mut Context<'_>) -> Verdict {
        let port = context.port();
        if let Some(transmitter) = self.transmitter_at(port).filter(|_| context.is_mine()) {
            transmitter.on_tm_drop(context);
        }
        Verdict::Continue
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        match event {
            Event::Start => {
                for transmitter in self.ports.iter_mut().filter_map(|ends| ends.transmitter.as_mut()) {
                    transmitter.initialise(context);
                }
            }
            Event::Timer(token) => self.end_wait(token, context),
            Event::FcsError { port } => {
                if let Some(receiver) = self.receiver_at(port) {
                    receiver.fcs_error(context);
                }
            }
            Event::OrderedSet { port, set } => self.hear(port, set, context),
            Event::PortState { port, state } => {
                if let Some(transmitter) = self.transmitter_at(port) {
                    transmitter.link_is(state != PortState::Down, context);
                }
            }
            Event::QueueEmpty { .. } | Event::Command(_) => {}
        }
    }

    fn resources(&self) -> Resources {
        Resources::new("link-layer-retry").not_counting("it sits in the MAC: replay buffer, numbers and timers")
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = Report::new("link-layer-retry");
        for ends in self.ports.iter() {
            ends.transmitter.iter().for_each(|transmitter| transmitter.report(&mut report));
            ends.receiver.iter().for_each(|receiver| receiver.report(&mut report));
        }
        report
    }
}

impl LinkLayerRetry {
    fn end_wait(&mut self, token: u32, context: &mut Context<'_>) {
        match Timer::from_token(token) {
            Timer::Transmitter(port) => {
                self.transmitter_at(port).into_iter().for_each(|end| end.look_at_time(context));
            }
            Timer::Receiver(port) => self.receiver_at(port).into_iter().for_each(|end| end.slot_is_due(context)),
        }
    }

    fn hear(&mut self, port: PortId, set: OrderedSet, context: &mut Context<'_>) {
        let Some(control) = Control::read(set) else { return };
        if let Control::Init(first) = control {
            if let Some(receiver) = self.receiver_at(port) {
                receiver.initialise(first, context);
            }
        } else if let Some(transmitter) = self.transmitter_at(port) {
            transmitter.hear(control, context);
        }
    }
}
