//! What was written and never sent, and what holds it back beside the congestion window.

use crate::transport::tcp::settings::TcpSettings;
use hitless_core::wire::Time;

/// The queue of new data. It has no bytes, only their number.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) struct SendBuffer {
    /// Bytes written and never sent.
    unsent_bytes: u64,
    /// The receiver's window (SND.WND).
    pub snd_wnd_bytes: u32,
    mss_bytes: u64,
    /// Segments below this many bytes wait for the acknowledgement of all before (RFC 896); 0: none waits.
    nagle_bytes: u64,
    /// What is left of the burst under way.
    pub burst_bytes: u64,
    /// When the last packet was sent, new or not.
    pub last_sent_at: Time,
}

impl SendBuffer {
    /// Nothing was written.
    pub fn new(config: &TcpSettings) -> Self {
        Self {
            unsent_bytes: 0,
            snd_wnd_bytes: config.receive_window_bytes(),
            mss_bytes: config.mss.0,
            nagle_bytes: if config.nagle { config.mss.0 } else { 0 },
            burst_bytes: 0,
            last_sent_at: Time::ZERO,
        }
    }

    /// Bytes written and never sent.
    #[inline]
    pub fn unsent_bytes(&self) -> u64 {
        self.unsent_bytes
    }

    /// Whether all was sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.unsent_bytes == 0
    }

    /// The application hands over `bytes` more.
    pub fn write(&mut self, bytes: u64) {
        self.unsent_bytes += bytes;
    }

    /// Payload of the next new segment; 0: there is none.
    #[inline]
    pub fn next_payload_bytes(&self) -> u64 {
        self.unsent_bytes.min(self.mss_bytes)
    }

    /// A new segment takes so many bytes out.
    #[inline]
    pub fn take(&mut self, payload_bytes: u64) {
        debug_assert!((1..=self.mss_bytes).contains(&payload_bytes), "a new segment of {payload_bytes} bytes");
        debug_assert!(payload_bytes <= self.unsent_bytes, "a segment of more than was written");
        self.unsent_bytes -= payload_bytes;
    }

    /// Whether a new segment waits until all before it is acknowledged (RFC 896).
    #[inline]
    pub fn waits_for_acks(&self, payload_bytes: u64, segments_in_flight: u64) -> bool {
        payload_bytes < self.nagle_bytes && segments_in_flight > 0
    }

    /// Whether the receiver's window has room for a new segment.
    #[inline]
    pub fn fits_receive_window(&self, outstanding_bytes: u64, payload_bytes: u64) -> bool {
        outstanding_bytes + payload_bytes <= u64::from(self.snd_wnd_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_segment_waits_for_nothing_and_the_receive_window_can_be_filled() {
        let buffer = SendBuffer::new(&TcpSettings { nagle: true, ..TcpSettings::default() });
        let mss_bytes = buffer.mss_bytes;
        let waits = [(mss_bytes, 9), (mss_bytes - 1, 9), (mss_bytes - 1, 0)]
            .map(|(payload_bytes, segments)| buffer.waits_for_acks(payload_bytes, segments));
        assert_eq!(waits, [false, true, false]);
        let room_bytes = u64::from(buffer.snd_wnd_bytes) - mss_bytes;
        assert!(buffer.fits_receive_window(room_bytes, mss_bytes));
        assert!(!buffer.fits_receive_window(room_bytes + 1, mss_bytes));
    }
}
