//! Calculates how many protected ends a recirculation port can serve (paper, section 5, leaves it open).
//!
//! Each end can send its link's line rate to the port: a sending end all copies, a receiving end all packets behind a
//! loss. Each end also needs buffer there: for unacknowledged copies, or for waiting packets and those that arrive
//! until a pause takes effect.

use std::fmt;

use hitless_core::wire::{BitRate, Bytes};
use hitless_switch::LinkEnd;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRoom {
    pub rate: BitRate,
    /// Maximum bytes that wait before the port.
    pub buffer: Bytes,
}

/// The demand of an end of a protected link on a recirculation port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndNeeds {
    pub link: String,
    pub end: LinkEnd,
    pub rate: BitRate,
    /// Maximum bytes that it keeps at the port.
    pub buffer: Bytes,
}

/// Why a port cannot serve all ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// The sum of line rates exceeds the port's rate.
    Rate { port: BitRate, ends: Vec<EndNeeds> },
    /// The sum of buffers exceeds the port's buffer.
    Buffer { port: Bytes, ends: Vec<EndNeeds> },
}

/// Checks whether a port can serve all ends at once.
///
/// # Errors [`NoRoom`] with the sum.
pub fn admit(port: PortRoom, ends: &[EndNeeds]) -> Result<(), NoRoom> {
    let rate_bps: u64 = ends.iter().map(|end| end.rate.as_bps()).sum();
    if rate_bps > port.rate.as_bps() {
        return Err(NoRoom::Rate { port: port.rate, ends: ends.to_vec() });
    }
    let buffer: u64 = ends.iter().map(|end| end.buffer.0).sum();
    if buffer > port.buffer.0 {
        return Err(NoRoom::Buffer { port: port.buffer, ends: ends.to_vec() });
    }
    Ok(())
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gbps = |rate: BitRate| rate.as_bps() as f64 / 1e9;
        let kilobytes = |bytes: Bytes| bytes.0 as f64 / 1e3;
        let (ends, unit, room): (_, _, f64) = match self {
            NoRoom::Rate { port, ends } => (ends, "Gb/s", gbps(*port)),
            NoRoom::Buffer { port, ends } => (ends, "KB", kilobytes(*port)),
        };
        let need = |end: &EndNeeds| if unit == "KB" { kilobytes(end.buffer) } else { gbps(end.rate) };
        for (index, end) in ends.iter().enumerate() {
            let name = if end.end == LinkEnd::Sender { "copies" } else { "reordering" };
            let plus = if index == 0 { "" } else { " + " };
            write!(f, "{plus}{:.1} ({name} of {})", need(end), end.link)?;
        }
        let sum: f64 = ends.iter().map(need).sum();
        write!(f, " = {sum:.1} {unit}, and a recirculation port has {room:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: PortRoom = PortRoom { rate: BitRate::from_gbps(100), buffer: Bytes(200_000) };

    fn ends(count: usize, end: LinkEnd, gbps: u64, buffer: u64) -> Vec<EndNeeds> {
        let rate = BitRate::from_gbps(gbps);
        (0..count).map(|_| EndNeeds { link: "a->b".into(), end, rate, buffer: Bytes(buffer) }).collect()
    }

    #[test]
    fn a_port_serves_as_many_ends_as_its_rate_and_its_buffer_allow() {
        assert_eq!(admit(PORT, &[]), Ok(()));
        for (fits, gbps) in [(1, 100), (4, 25)] {
            assert_eq!(admit(PORT, &ends(fits, LinkEnd::Sender, gbps, 0)), Ok(()), "{fits} x {gbps}G");
            let refused = admit(PORT, &ends(fits + 1, LinkEnd::Sender, gbps, 0));
            assert!(matches!(refused, Err(NoRoom::Rate { .. })), "{gbps}G");
        }
        assert_eq!(admit(PORT, &ends(4, LinkEnd::Receiver, 25, 50_000)), Ok(()));
        assert!(matches!(admit(PORT, &ends(4, LinkEnd::Receiver, 10, 50_001)), Err(NoRoom::Buffer { .. })));
    }

    #[test]
    fn a_refusal_shows_the_sum() {
        let refusal = admit(PORT, &ends(2, LinkEnd::Sender, 100, 0)).unwrap_err().to_string();
        let expected =
            "100.0 (copies of a->b) + 100.0 (copies of a->b) = 200.0 Gb/s, and a recirculation port has 100.0 Gb/s";
        assert_eq!(refusal, expected);
    }
}
