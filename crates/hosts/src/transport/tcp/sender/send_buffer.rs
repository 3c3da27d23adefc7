//! Unsent data, and its limits besides the congestion window.

use crate::transport::tcp::settings::TcpSettings;
use hitless_core::wire::Time;
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;

/// The queue of new data. It stores only the number of bytes.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) struct SendBuffer {
    /// Bytes written and never sent.
    unsent_bytes: u64,
    /// The receiver's window (SND.WND).
    pub snd_wnd_bytes: u32,
    /// Length of a frame without its payload.
    header_bytes: u32,
    mss_bytes: u64,
    /// Segments below this length wait until everything is acknowledged (RFC 896); 0 disables it.
    nagle_bytes: u64,
    /// Remaining bytes of the current burst.
    pub burst_bytes: u64,
    /// Time of the last packet, new or retransmitted.
    pub last_sent_at: Time,
}

impl SendBuffer {
    pub fn new(config: &TcpSettings) -> Self {
        Self {
            unsent_bytes: 0,
            snd_wnd_bytes: config.receive_window_bytes(),
            header_bytes: config.header_bytes.0 as u32,
            mss_bytes: config.mss.0,
            nagle_bytes: if config.nagle { config.mss.0 } else { 0 },
            burst_bytes: 0,
            last_sent_at: Time::ZERO,
        }
    }

    #[inline]
    pub fn unsent_bytes(&self) -> u64 {
        self.unsent_bytes
    }

    #[inline]
    pub fn frame_bytes(&self, payload_bytes: u16) -> u32 {
        (self.header_bytes + u32::from(payload_bytes)).max(MINIMUM_FRAME_BYTES)
    }

    /// Returns whether everything was sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.unsent_bytes == 0
    }

    pub fn write(&mut self, bytes: u64) {
        self.unsent_bytes += bytes;
    }

    /// Returns the payload of the next new segment; 0 if there is none.
    #[inline]
    pub fn next_payload_bytes(&self) -> u64 {
        self.unsent_bytes.min(self.mss_bytes)
    }

    #[inline]
    pub fn take(&mut self, payload_bytes: u64) {
        debug_assert!((1..=self.mss_bytes).contains(&payload_bytes), "a new segment of {payload_bytes} bytes");
        debug_assert!(payload_bytes <= self.unsent_bytes, "a segment of more than was written");
        self.unsent_bytes -= payload_bytes;
    }

    /// Returns whether a new segment waits until everything is acknowledged (RFC 896).
    #[inline]
    pub fn waits_for_acks(&self, payload_bytes: u64, segments_in_flight: u64) -> bool {
        payload_bytes < self.nagle_bytes && segments_in_flight > 0
    }

    /// Returns whether the receive window has room for a new segment.
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
