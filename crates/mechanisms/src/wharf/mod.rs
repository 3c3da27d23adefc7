//! Wharf: forward error correction across the frames of a link (Giesen et al., "In-network computing to the rescue of
//! faulty links", NetCompute 2018).
//!
//! The sending port puts frames into blocks and sends parity frames behind each block ([`encoder`]). The receiving port
//! restores as many lost frames as it has parity frames ([`decoder`]). The code itself is in [`coder`] and works on
//! bytes. In a simulation packets have no bytes: there the two ends share the parity's information (`contents.rs`).
//!
//! As in the published programs of Flightplan, data frames are forwarded as they arrive, so that a restored frame is
//! late; limits, header and flush by timeout are the same. Differences and choices:
//! - The coder sits at the MAC, like an FPGA in front of the port, and takes no time.
//! - There is one traffic class.
//! - A flushed block is not filled with empty frames: its parity gives its number of frames.
//! - Nothing is dropped to signal that the link is slower (the paper's meter): parity takes its share of the line, and
//!   excess packets wait in the queue of the port.

pub mod coder;
pub mod contents;
mod decoder;
mod encoder;
pub mod header;
mod kind;
mod settings;

use hitless_core::wire::{Packet, PortId, Time};
use hitless_switch::{Context, Event, Mechanism, Needs, Report, Resources, TimerToken, Verdict};

use crate::by_port::ByPort;

pub use contents::{Reader, Writer, contents};
use decoder::Decoder;
use encoder::Encoder;
pub use settings::WharfSettings;

#[derive(Default, hitless_core::state::State)]
struct Ends {
    #[part]
    encoder: Option<Encoder>,
    #[part]
    decoder: Option<Decoder>,
}

#[derive(Default, hitless_core::state::State)]
pub struct Wharf {
    #[part]
    ports: ByPort<Ends>,
}

impl Wharf {
    /// Makes `port` the sending end of a link with the settings of both ends.
    pub fn add_encoder(&mut self, port: PortId, settings: &WharfSettings, contents: Writer) {
        self.ends(port).encoder = Some(Encoder::new(port, settings, contents));
    }

    /// Makes `port` the receiving end of a link with the settings of both ends.
    pub fn add_decoder(&mut self, port: PortId, settings: &WharfSettings, contents: Reader) {
        self.ends(port).decoder = Some(Decoder::new(port, settings, contents));
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
    hitless_switch::is_its_own_state!();

    fn each_copy(&self, now: Time, see: &mut dyn FnMut(&Packet)) {
        self.ports.iter().filter_map(|ends| ends.encoder.as_ref()).for_each(|encoder| encoder.each_coded(now, see));
    }

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        let mut wanted = Needs::default();
        for ends in self.ports.iter_mut() {
            ends.encoder.iter_mut().for_each(|encoder| encoder.subscribe(queue_counts, &mut wanted));
            ends.decoder.iter().for_each(|decoder| decoder.subscribe(&mut wanted));
        }
        wanted
    }

    fn rx(&mut self, context: &mut Context<'_>) -> Verdict {
        let port = context.port();
        match self.ports.get_mut(port).and_then(|ends| ends.decoder.as_mut()) {
            Some(decoder) => decoder.take(context),
            None => Verdict::Continue,
        }
    }

    fn tx(&mut self, context: &mut Context<'_>) -> Verdict {
        let (port, is_parity) = (context.port(), context.is_mine());
        if let Some(encoder) = self.encoder_at(port).filter(|_| !is_parity) {
            encoder.send(context);
        }
        Verdict::Continue
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        if let Event::Timer(token) = event
            && let Some(encoder) = self.encoder_at(PortId::from_token(token))
        {
            encoder.look_at_time(context);
        }
    }

    fn resources(&self) -> Resources {
        Resources::new("wharf").not_counting(
            "it sits at the MAC, in front of the pipeline (an FPGA in the paper): coder, decoder and the buffers of \
             blocks",
        )
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
