//! Wharf: forward error correction across the frames of a link (Giesen et al., "In-network computing to the rescue of
//! faulty links", NetCompute 2018).
//!
//! The sending port puts frames into blocks and sends parity frames behind each block ([`encoder`]); the receiving port
//! restores as many lost frames as parity frames came ([`decoder`]). The code itself is in [`coder`] and works on bytes.
//! In a simulation a packet has none: there the two ends share what the parity says ([`contents`]).
//!
//! As in the published programs of Flightplan: data frames are passed on as they come, so a restored frame comes late;
//! limits, header and flush by time-out. What is different, or chosen:
//! - the coder sits at the MAC, as one in an FPGA before the port would, and takes no time;
//! - there is one traffic class;
//! - a block that is flushed is not filled up with empty frames: its parity says how many it has;
//! - nothing is dropped to signal that the link is slower (the paper's meter): parity takes its share of the line, and
//!   what does not fit waits in the queue of the port.

pub mod coder;
pub mod config;
pub mod contents;
mod decoder;
mod encoder;
mod resources;

use hitless_switch::{Context, Environment, Mechanism, Report, Resources, Subscriptions, Verdict};
use hitless_wire::{PortId, Time};

use crate::by_port::ByPort;

pub use config::EndConfig;
pub use contents::{Reader, Writer, contents};
use decoder::Decoder;
use encoder::Encoder;

#[derive(Default)]
struct Ends {
    encoder: Option<Encoder>,
    decoder: Option<Decoder>,
}

/// Wharf on one switch.
#[derive(Default)]
pub struct Wharf {
    ports: ByPort<Ends>,
}

impl Wharf {
    /// Makes `config.port` the sending end of a link.
    pub fn add_encoder(&mut self, config: EndConfig, contents: Writer) {
        self.ends(config.port).encoder = Some(Encoder::new(config, contents));
    }

    /// Makes `config.port` the receiving end of a link.
    pub fn add_decoder(&mut self, config: EndConfig, contents: Reader) {
        self.ends(config.port).decoder = Some(Decoder::new(config, contents));
    }

    fn ends(&mut self, port: PortId) -> &mut Ends {
        self.ports.entry(port)
    }

    #[inline]
    fn encoder_at(&mut self, port: PortId) -> Option<&mut Encoder> {
        self.ports.get_mut(port)?.encoder.as_mut()
    }
}

impl Mechanism for Wharf {
    fn subscriptions(&mut self, queue_counts: &[usize]) -> Subscriptions {
        let mut wanted = Subscriptions::default();
        for ends in self.ports.iter_mut() {
            ends.encoder.iter_mut().for_each(|encoder| encoder.subscribe(queue_counts, &mut wanted));
            ends.decoder.iter().for_each(|decoder| decoder.subscribe(&mut wanted));
        }
        wanted
    }

    fn link_receive<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let port = context.port();
        match self.ports.get_mut(port).and_then(|ends| ends.decoder.as_mut()) {
            Some(decoder) => decoder.take(context),
            None => Verdict::Continue,
        }
    }

    fn link_transmit<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let (port, is_parity) = (context.port(), context.is_mine());
        if let Some(encoder) = self.encoder_at(port).filter(|_| !is_parity) {
            encoder.send(context);
        }
        Verdict::Continue
    }

    fn timer<E: Environment>(&mut self, token: u32, context: &mut Context<'_, E>) {
        if let Some(encoder) = self.encoder_at(PortId(token as u16)) {
            encoder.look_at_time(context);
        }
    }

    fn resources(&self) -> Resources {
        resources::resources()
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = Report::new("wharf");
        for ends in self.ports.iter() {
            ends.encoder.iter().for_each(|encoder| encoder.report(&mut report));
            ends.decoder.iter().for_each(|decoder| decoder.report(&mut report));
        }
        report
    }
}
