//! Packets that need no order (our extension: the paper keeps the order of all packets).
//!
//! A receiver of a spraying connection accepts any order, and a hold only delays its packets. They get no tag. While
//! the port has a path they leave at once, to the backup or back to their own port. Ingress sends them to the backup:
//! a pass through egress of the primary port would delay them, and NSCC answers delay with a smaller window.
//!
//! A copy notes the number of failures of its port. Its first pass after the next failure decides whether that failure
//! can have lost the original. If so, the copy becomes an ordinary packet in the queue of its class at the port of the
//! path, and egress copies it there. Without a path it waits in the queue of its class at its own port, and leaves from
//! there as soon as there is one: it does not wait for packets in order.

use hitless_core::wire::PortId;
use hitless_switch::{Half, Pass, RegisterArray, RegisterUse, register_cell};

use super::clock::Clock;
use super::metadata::CacheMetadata;

/// The path of a port's packets, and the last failure of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct OpenPath {
    /// The egress port; `None` while packets must wait.
    pub way: Option<PortId>,
    /// The number of failures; wraps.
    failures: u8,
    /// The number of packets that left; wraps.
    sent: u8,
    /// Clock when the last failure was detected.
    failed_at_ns: u32,
}

register_cell!(OpenPath { way: Option<PortId>, failures: u8, sent: u8, failed_at_ns: u32 });

impl OpenPath {
    /// Returns the tag of a copy of the packet that has just been counted. Tags of consecutive packets differ by 1, for
    /// [`super::utilization`].
    pub fn tag(self) -> u32 {
        u32::from(u16::from_be_bytes([self.failures, self.sent]))
    }

    /// Returns whether a failure since its departure can have lost the original of `copy`, which is kept for
    /// `steady_delay_ns`.
    pub fn can_have_lost(self, copy: &CacheMetadata, clock: Clock, steady_delay_ns: u32) -> bool {
        let [_, _, failures, _] = copy.tag.to_be_bytes();
        match self.failures.wrapping_sub(failures) {
            0 => false,
            1 => clock.elapsed_ns(copy.started_ns, self.failed_at_ns) < steady_delay_ns,
            // The time of that failure was overwritten. A duplicate is better than a loss.
            _ => true,
        }
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct AnyOrder {
    #[configured]
    classes: Vec<u8>,
    #[part]
    ingress_ways: RegisterArray<Option<PortId>>,
    #[part]
    paths: RegisterArray<OpenPath>,
}

impl AnyOrder {
    /// All ports are up; packets of `classes` need no order.
    pub fn new(ports: usize, classes: &[u8]) -> Self {
        let ingress_ways = RegisterArray::new("anyOrderPort", Half::Ingress, 0, ports, None);
        let paths = RegisterArray::new("anyOrder", Half::Egress, 1, ports, OpenPath::default());
        let mut any_order = Self { classes: classes.to_vec(), ingress_ways, paths };
        (0..ports as u16).map(PortId).for_each(|port| any_order.set_way(port, Some(port)));
        any_order
    }

    pub fn stated(&self) -> impl Iterator<Item = RegisterUse> {
        let stated = [self.ingress_ways.stated(), self.paths.stated()];
        stated.into_iter().filter(|_| !self.classes.is_empty())
    }

    pub fn classes(&self) -> &[u8] {
        &self.classes
    }

    #[inline]
    pub fn contains(&self, class: u8) -> bool {
        self.classes.contains(&class)
    }

    /// Reads, in ingress, the path of an original towards `port`.
    pub fn steer(&mut self, pass: &mut Pass, port: PortId) -> Option<PortId> {
        self.ingress_ways.access(pass, usize::from(port.0), |way| *way)
    }

    /// Reads the path of an original at its port, and counts the packet.
    pub fn original(&mut self, pass: &mut Pass, port: PortId) -> OpenPath {
        self.paths.access(pass, usize::from(port.0), |path| {
            path.sent = path.sent.wrapping_add(1);
            *path
        })
    }

    /// Reads the path of a copy of a packet that left through `port`.
    pub fn path(&mut self, pass: &mut Pass, port: PortId) -> OpenPath {
        self.paths.access(pass, usize::from(port.0), |path| *path)
    }

    /// For the control plane: whether packets of `port` have a path.
    pub fn has_way(&self, port: PortId) -> bool {
        self.paths.peek(usize::from(port.0)).way.is_some()
    }

    /// For the control plane: sends packets of `port` on `way`.
    pub fn set_way(&mut self, port: PortId, way: Option<PortId>) {
        self.ingress_ways.poke(usize::from(port.0), way);
        self.paths.poke(usize::from(port.0), OpenPath { way, ..self.paths.peek(usize::from(port.0)) });
    }

    /// For the control plane: notes a failure of the link of `port`.
    pub fn note_failure(&mut self, port: PortId, now_ns: u32) {
        let path = self.paths.peek(usize::from(port.0));
        let failures = path.failures.wrapping_add(1);
        self.paths.poke(usize::from(port.0), OpenPath { failures, failed_at_ns: now_ns, ..path });
    }
}

#[cfg(test)]
impl AnyOrder {
    /// Tells the state of a port. Only the time since the failure matters.
    pub fn tell(&self, port: PortId, now_ns: u32, digest: &mut hitless_switch::explore::Digest<'_>) {
        if !self.classes.is_empty() {
            let path = self.paths.peek(usize::from(port.0));
            let failed_at_ns = if path.failures > 0 { path.failed_at_ns.wrapping_sub(now_ns) } else { 0 };
            digest.value(OpenPath { failed_at_ns, ..path });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: PortId = PortId(0);
    const STEADY_NS: u32 = 1_000;

    fn pass() -> Pass {
        let mut pass = Pass::new(true);
        pass.begin(Half::Egress);
        pass
    }

    #[test]
    fn a_failure_can_have_lost_packets_of_the_steady_delay_before_its_detection() {
        for (bits, detected_ns) in [(32, 5_000_u32), (32, 400), (12, 3_000), (12, 100)] {
            let clock = Clock::new(bits);
            let mask = u32::MAX >> (32 - bits);
            for failures in [0_u32, 255] {
                let mut any = AnyOrder::new(1, &[0]);
                (0..failures).for_each(|_| any.note_failure(PORT, 0));
                let tag = any.original(&mut pass(), PORT).tag();
                let copy = |started_ns: u32| CacheMetadata {
                    tag,
                    started_ns: started_ns & mask,
                    primary: PORT,
                    is_kept_back: false,
                    skip: None,
                };
                let can_have_lost = |any: &mut AnyOrder, age_ns: u32| {
                    let copy = copy(detected_ns.wrapping_sub(age_ns));
                    any.path(&mut pass(), PORT).can_have_lost(&copy, clock, STEADY_NS)
                };
                assert!(!can_have_lost(&mut any, 0), "no failure yet");
                any.note_failure(PORT, detected_ns);
                for (age_ns, is_lost) in [(0, true), (999, true), (1_000, false), (1_500, false)] {
                    assert_eq!(can_have_lost(&mut any, age_ns), is_lost, "{bits} bits, {failures}, {age_ns} ns");
                }
                let later = any.original(&mut pass(), PORT).tag();
                let sent_after = CacheMetadata { tag: later, ..copy(detected_ns) };
                assert!(!any.path(&mut pass(), PORT).can_have_lost(&sent_after, clock, STEADY_NS));
                any.note_failure(PORT, detected_ns.wrapping_add(1_400) & mask);
                assert!(can_have_lost(&mut any, 500), "a second failure must not hide the first");
            }
        }
    }

    #[test]
    fn consecutive_packets_have_consecutive_tags() {
        let mut any = AnyOrder::new(2, &[0]);
        let tags: Vec<_> = (0..300).map(|_| any.original(&mut pass(), PortId(1)).tag() % 256).collect();
        assert!(tags.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 256), "{tags:?}");
    }
}
