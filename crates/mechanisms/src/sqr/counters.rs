//! SQR's counters.

use hitless_core::wire::{PortId, Time};
use hitless_switch::Report;

hitless_switch::counters! {
    pub struct PortCounters {
        /// Protected packets in egress.
        marked as packets_marked = "packets marked",
        copies as copies_made = "copies made",
        /// Copies that were not needed.
        retired as copies_retired = "copies retired",
        /// Packets cached instead of leaving at once.
        kept_back as packets_kept_back = "packets kept back",
        /// Includes packets sent a second time.
        resent as packets_sent_from_cache = "packets sent from the cache",
        /// Packets sent without a copy, because the ring was full, or the buffer nearly.
        unprotected as packets_sent_unprotected = "packets sent unprotected",
        unprotected_at_first as packets_unprotected_before_failure = "packets sent unprotected before a failure",
        copies_refused = "copies refused by the buffer",
        /// Packets that were kept back and found no room.
        kept_back_refused as packets_lost_without_buffer = "packets lost for want of buffer",
        /// Tags without a copy.
        skipped as tags_skipped = "tags skipped",
        /// Marked and unmarked packets.
        moved as packets_moved_to_backup = "packets moved to the backup",
        /// Detected failures of the link in use.
        failures = "failures",
        /// Passes of cached packets through egress.
        passes as ring_passes = "passes through the ring",
    }
}

hitless_switch::counters! {
    pub struct CacheCounters(counters: &SwitchCounters) {
        cached_bytes = "bytes now": counters.cached.now_bytes,
        cached_peak_bytes = "most bytes": counters.cached.peak_bytes,
        cached_mean_bytes = "mean bytes": counters.cached.mean_bytes(),
        pauses = "pauses": counters.pauses,
    }
}

impl PortCounters {
    /// Counts a packet that leaves without a copy.
    pub fn note_unprotected(&mut self) {
        self.unprotected += 1;
        self.unprotected_at_first += u64::from(self.failures == 0);
    }
}

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub struct CachedBytes {
    now_bytes: u64,
    peak_bytes: u64,
    changed_at: Time,
    /// The integral over time up to the last change.
    byte_ps: u128,
    first_at: Option<Time>,
}

impl CachedBytes {
    pub fn add(&mut self, now: Time, bytes: u32) {
        self.pass_time(now);
        self.first_at.get_or_insert(now);
        self.now_bytes += u64::from(bytes);
        self.peak_bytes = self.peak_bytes.max(self.now_bytes);
    }

    pub fn remove(&mut self, now: Time, bytes: u32) {
        self.pass_time(now);
        assert!(self.now_bytes >= u64::from(bytes), "the cache gives back no more bytes than it took");
        self.now_bytes -= u64::from(bytes);
    }

    fn pass_time(&mut self, now: Time) {
        assert!(now >= self.changed_at, "the cache changes in the order of time");
        self.byte_ps += u128::from(self.now_bytes) * u128::from(now.as_ps() - self.changed_at.as_ps());
        self.changed_at = now;
    }

    /// The mean from the first packet to the last change.
    fn mean_bytes(&self) -> u64 {
        let Some(first_at) = self.first_at else { return 0 };
        let span_ps = self.changed_at.as_ps() - first_at.as_ps();
        self.byte_ps.checked_div(u128::from(span_ps)).unwrap_or(0) as u64
    }
}

#[derive(Debug, hitless_core::state::Value)]
pub struct SwitchCounters {
    ports: Vec<PortCounters>,
    pub cached: CachedBytes,
    pub pauses: u64,
}

impl SwitchCounters {
    pub fn new(ports: usize) -> Self {
        Self { ports: vec![PortCounters::default(); ports], cached: CachedBytes::default(), pauses: 0 }
    }

    pub fn port(&mut self, port: PortId) -> &mut PortCounters {
        &mut self.ports[usize::from(port.0)]
    }

    pub fn report(&self, protected: &[PortId]) -> Report {
        let mut report = Report::new("sqr");
        for &port in protected {
            let counters = &self.ports[usize::from(port.0)];
            report.acted |= counters.marked > 0;
            // After a failure the backlog leaves faster than the ring takes copies; that matters to a second failure.
            if counters.unprotected_at_first > 0 {
                report.warnings.push(format!(
                    "before the first failure {} packets left port {} without a copy, because the ring or buffer was \
                     full: a failure loses such packets",
                    counters.unprotected_at_first, port.0
                ));
            }
            counters.report(&format!("port {}", port.0), &mut report);
        }
        report.count("cache", CacheCounters::values(self));
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_the_time_in_which_the_cache_was_used() {
        let mut cached = CachedBytes::default();
        cached.add(Time(100), 10);
        cached.add(Time(110), 30);
        cached.remove(Time(120), 40);
        assert_eq!((cached.mean_bytes(), cached.peak_bytes, cached.now_bytes), (25, 40, 0));
        cached.add(Time(120), 5);
        assert_eq!((cached.peak_bytes, cached.now_bytes), (40, 5), "the peak stays");
    }
}
