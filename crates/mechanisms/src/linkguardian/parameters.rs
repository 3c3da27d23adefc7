//! The arithmetic of appendix B.1: what follows from the rate of a link and of the port that drains its buffers.

use hitless_wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_wire::{BitRate, Bytes, Duration};

/// The paper's parameters: rate in Gb/s up to which a row holds, timeout in ns, resume and pause in cells. Section 4,
/// "Parameters" (25G, 100G); published switch programs (10G and the thresholds in cells).
const BY_RATE: [(u64, u64, u64, u64); 3] = [(10, 13_500, 622, 662), (25, 7_500, 497, 537), (100, 7_000, 460, 500)];
const CELL_BYTES: u64 = 80;
/// Up to this rate, and with buffers that drain at it, the paper gives the thresholds.
const RATE_OF_PAPER: BitRate = BitRate::from_gbps(100);
/// t_flight_resume at 100G (appendix B.1), of which one full frame's time depends on the rate.
const FLIGHT_AT_100G: Duration = Duration::from_ns(1_600);
/// Of 37 KB at 100G what is more than drains in that time: the paper says "conservatively".
const MARGIN_BYTES: u64 = 460 * CELL_BYTES - 20_000;
/// Between the thresholds (section 3.3): 2 MTU, as 40 cells.
const HYSTERESIS_BYTES: u64 = 40 * CELL_BYTES;
/// The paper's timeouts are for so many copies of a packet (Equation 2 at a loss rate of 1e-3).
const COPIES_OF_PAPER: u32 = 2;
/// And for cables of a rack, the longest of which is taken to be 40 m.
const CABLE_OF_PAPER: Duration = Duration::from_ns(200);

/// How long a full frame takes on the line.
pub fn frame_time(rate: BitRate) -> Duration {
    rate.time_for(u64::from(MTU_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES))
}

/// ackNoTimeout by the rate of the link and the number of copies. Between the paper's rates that of the next higher one
/// holds, and above 100G that of 100G. The worst case is the last copy of the second of two losses in a row, so each
/// copy beyond two puts it off by two frames' time. The paper's are measured over cables within a rack: on a longer
/// link the notification of a loss and the copy of the packet are each as much longer on their way.
pub fn acknowledgement_timeout(rate: BitRate, copies: u32, delay: Duration) -> Duration {
    let (_, timeout_ns, ..) = row(rate);
    let of_copies = frame_time(rate) * u64::from(2 * copies.saturating_sub(COPIES_OF_PAPER));
    let farther = Duration::from_ps(delay.as_ps().saturating_sub(CABLE_OF_PAPER.as_ps()) * 2);
    Duration::from_ns(timeout_ns) + of_copies + farther
}

/// What a resume takes from the decision to the first frame that it lets go.
pub fn resume_flight(rate: BitRate) -> Duration {
    let of_switches = FLIGHT_AT_100G.saturating_sub(frame_time(RATE_OF_PAPER));
    of_switches + frame_time(rate)
}

/// When to resume and when to pause the sender of a link of `rate`, if the reordering buffer drains at `drain_rate`. Up
/// to 100G the paper's values; where either is faster, what drains in [`resume_flight`], with the margin that the paper
/// has at 100G, and 2 MTU more.
pub fn thresholds(rate: BitRate, drain_rate: BitRate) -> (Bytes, Bytes) {
    if rate <= RATE_OF_PAPER && drain_rate <= RATE_OF_PAPER {
        let (_, _, resume_cells, pause_cells) = row(rate);
        return (Bytes(resume_cells * CELL_BYTES), Bytes(pause_cells * CELL_BYTES));
    }
    let resume = drain_rate.bytes_in(resume_flight(rate)).0 + MARGIN_BYTES;
    (Bytes(resume), Bytes(resume + HYSTERESIS_BYTES))
}

fn row(rate: BitRate) -> (u64, u64, u64, u64) {
    let gbps = rate.as_bps().div_ceil(1_000_000_000);
    *BY_RATE.iter().find(|row| gbps <= row.0).unwrap_or(&BY_RATE[BY_RATE.len() - 1])
}

/// 1e-4 and 1e-8 give 1 exactly; the logarithms may miss it by a rounding error.
const ROUNDING: f64 = 1e-9;

/// Equation 2 of the paper, rounded up: how many copies bring `actual_loss_rate` down to `target_loss_rate`.
///
/// At least one. Both rates lie strictly between 0 and 1.
pub fn copies_for(actual_loss_rate: f64, target_loss_rate: f64) -> u32 {
    let copies = target_loss_rate.log10() / actual_loss_rate.log10() - 1.0;
    (copies - ROUNDING).ceil().max(1.0) as u32
}

/// How often a loss notification is sent: so often that a packet whose original is lost with `forward_loss_rate`, and
/// all of whose notifications are lost with `reverse_loss_rate` each, is rarer than `target_loss_rate` (Equation 2, for
/// the control messages of section 5). At least once. Rates lie strictly between 0 and 1.
pub fn control_copies_for(forward_loss_rate: f64, reverse_loss_rate: f64, target_loss_rate: f64) -> u32 {
    let copies = (target_loss_rate / forward_loss_rate).log10() / reverse_loss_rate.log10();
    (copies - ROUNDING).ceil().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gbps(rate: u64) -> BitRate {
        BitRate::from_gbps(rate)
    }

    #[test]
    fn at_the_papers_rates_the_papers_values() {
        let table = [(10, 13_500, 622, 662), (25, 7_500, 497, 537), (100, 7_000, 460, 500)];
        for (rate, timeout_ns, resume_cells, pause_cells) in table {
            assert_eq!(
                acknowledgement_timeout(gbps(rate), 2, Duration::from_ns(50)),
                Duration::from_ns(timeout_ns),
                "{rate}G"
            );
            let cells = (Bytes(resume_cells * 80), Bytes(pause_cells * 80));
            assert_eq!(thresholds(gbps(rate), gbps(100)), cells, "{rate}G");
        }
    }

    #[test]
    fn the_formula_for_400g_gives_the_papers_values_at_100g() {
        let at_100g = gbps(100).bytes_in(resume_flight(gbps(100))).0 + MARGIN_BYTES;
        assert_eq!(Bytes(at_100g), thresholds(gbps(100), gbps(100)).0);
        // 1.6 us at 100G less a frame of 123.04 ns, and one of 30.76 ns: 1.50772 us, in which 400G drain 75,386 bytes.
        assert_eq!(thresholds(gbps(400), gbps(400)), (Bytes(75_386 + 16_800), Bytes(75_386 + 16_800 + 3_200)));
    }

    #[test]
    fn each_copy_beyond_two_puts_the_timeout_off() {
        let of_copies = |copies| acknowledgement_timeout(gbps(10), copies, Duration::ZERO).as_ps() / 1_000;
        assert_eq!([1, 2, 3, 4].map(of_copies), [13_500, 13_500, 15_960, 18_421]);
    }

    /// Over 1 us at 100G a copy of the swarm's world 10,103,067 came 8.4 us after its loss was found, and was given up.
    #[test]
    fn on_a_longer_link_the_receiver_waits_as_much_longer() {
        let of_delay = |ns| acknowledgement_timeout(gbps(100), 2, Duration::from_ns(ns));
        assert_eq!([0, 200, 1_000].map(of_delay), [7_000, 7_000, 8_600].map(Duration::from_ns));
    }

    #[test]
    fn equation_2_gives_the_copies_of_section_4_1() {
        for (actual, copies) in [(1e-5, 1), (1e-4, 1), (1e-3, 2), (1.16e-3, 2), (1e-2, 3), (0.05, 6)] {
            assert_eq!(copies_for(actual, 1e-8), copies, "{actual}");
        }
    }

    #[test]
    fn notifications_are_repeated_until_losing_all_is_as_rare_as_the_target() {
        for (forward, reverse, copies) in
            [(1e-3, 1e-3, 2), (1e-4, 1e-4, 1), (0.05, 0.05, 6), (1e-3, 0.05, 4), (1e-9, 0.1, 1)]
        {
            assert_eq!(control_copies_for(forward, reverse, 1e-8), copies, "{forward} {reverse}");
        }
    }
}
