//! How many protected ends a recirculation port can serve, by arithmetic (paper, section 5, leaves it open).
//!
//! Each end may bring its link's line rate to the port at once: a sending end all copies, a receiving end all packets
//! behind a loss. And each needs room there: for what is sent until it is acknowledged, or for what waits and still
//! comes when the pause is under way.

use std::fmt;

use hitless_core::wire::{BitRate, Bytes};
use hitless_switch::LinkEnd;

/// What a recirculation port has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRoom {
    /// Its rate.
    pub rate: BitRate,
    /// What may wait before it.
    pub buffer: Bytes,
}

/// What one end of a protected link asks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndNeeds {
    /// The name of the link.
    pub link: String,
    /// Which end.
    pub end: LinkEnd,
    /// The link's rate.
    pub rate: BitRate,
    /// What it keeps at the port at most.
    pub buffer: Bytes,
}

/// Why a port has no room for all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// Their line rates are more than the port's.
    Rate {
        /// Of the port.
        port: BitRate,
        /// Each with its rate.
        ends: Vec<EndNeeds>,
    },
    /// What they keep is more than may wait before the port.
    Buffer {
        /// Of the port.
        port: Bytes,
        /// Each with its need.
        ends: Vec<EndNeeds>,
    },
}

/// Whether a port can serve all these ends at once.
///
/// # Errors
/// [`NoRoom`], which shows the sum.
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
