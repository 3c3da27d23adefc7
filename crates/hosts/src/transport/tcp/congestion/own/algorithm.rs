//! A congestion control from outside this crate on a connection.

use hitless_core::engine::Stream;
use hitless_core::state::{Damaged, Reader, Value, Writer};
use hitless_core::wire::{BitRate, Duration, Time};

use super::kind::{Behaviour, BoxedControl};
use super::settings::OwnSettings;
use crate::transport::tcp::congestion::api::{AckEvent, AckSample, CongestionControl, CongestionSign, Window};

/// A congestion control from outside this crate on a connection.
#[derive(Debug)]
pub(in crate::transport::tcp) struct OwnAlgorithm {
    settings: OwnSettings,
    control: Box<dyn BoxedControl>,
}

impl OwnAlgorithm {
    pub fn new(settings: OwnSettings, window: &Window) -> Self {
        Self { settings, control: settings.build(window) }
    }

    /// Returns the calls that it asks for.
    #[inline]
    pub fn behaviour(&self) -> Behaviour {
        self.settings.facts().behaviour
    }
}

impl Clone for OwnAlgorithm {
    fn clone(&self) -> Self {
        Self { settings: self.settings, control: self.control.copy() }
    }
}

impl Value for OwnAlgorithm {
    fn write(&self, out: &mut Writer) {
        self.settings.write(out);
        self.control.save(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let settings = OwnSettings::read(from)?;
        Ok(Self { settings, control: settings.load(from)? })
    }
}

impl CongestionControl for OwnAlgorithm {
    fn on_ack(&mut self, event: &AckEvent) {
        self.control.on_ack(event);
    }

    fn increase(&mut self, window: &mut Window, event: &AckEvent) {
        self.control.increase(window, event);
    }

    fn ssthresh(&mut self, window: &Window, sign: CongestionSign) -> u64 {
        self.control.ssthresh(window, sign)
    }

    fn draw_from(&mut self, stream: Stream) {
        self.control.draw_from(stream);
    }

    fn loss_reduces_after_ece(&self) -> bool {
        self.control.loss_reduces_after_ece()
    }

    fn on_recovery(&mut self, window: &mut Window, sign: CongestionSign, now: Time) {
        self.control.on_recovery(window, sign, now);
    }

    fn on_established(&mut self, window: &Window, rtt: Duration) {
        self.control.on_established(window, rtt);
    }

    fn on_limited(&mut self, now: Time) {
        self.control.on_limited(now);
    }

    fn on_restart(&mut self, window: &mut Window, now: Time, idle: Duration) {
        self.control.on_restart(window, now, idle);
    }

    fn on_undo(&mut self, window: &mut Window) {
        self.control.on_undo(window);
    }

    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
        self.control.on_ack_sample(window, event);
        assert!(window.cwnd_bytes >= window.mss_bytes, "a window of less than a segment");
    }

    fn is_app_limited(&self) -> bool {
        self.control.is_app_limited()
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.control.pacing_rate()
    }
}
