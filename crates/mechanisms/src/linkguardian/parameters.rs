//! LinkGuardian's times and buffers, derived from its link (section 4 and appendix B.1).
//!
//! The paper gives values for 10G, 25G and 100G, full frames of 1,518 bytes, cables within a rack, and recirculation at
//! 100G. Within that range these are the paper's values. Elsewhere each value grows with its inputs.

use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_core::wire::{BitRate, Bytes, Duration};

/// Highest rate of a row in Gb/s, timeout in ns, resume and pause thresholds in cells: section 4, "Parameters" (25G,
/// 100G), and the published switch programs (10G, and the thresholds in cells).
const BY_RATE: [(u64, u64, u64, u64); 3] = [(10, 13_500, 622, 662), (25, 7_500, 497, 537), (100, 7_000, 460, 500)];
const CELL_BYTES: u64 = 80;
/// The lowest rate of the paper, and the rate at which its buffers drain.
const LOWEST_OF_PAPER: BitRate = BitRate::from_gbps(10);
const DRAIN_OF_PAPER: BitRate = BitRate::from_gbps(100);
/// t_flight_resume at 100G (appendix B.1), including a full frame.
const FLIGHT_AT_100G: Duration = Duration::from_ns(1_600);
/// The resume threshold of 36.8 KB at 100G exceeds the 20 KB that drain in that time: the paper says "conservatively".
const MARGIN_BYTES: u64 = 460 * CELL_BYTES - 20_000;
/// Between the thresholds (section 3.3): 2 MTU, as 40 cells.
const HYSTERESIS_BYTES: u64 = 40 * CELL_BYTES;
/// The paper's timeouts hold for this number of copies (Equation 2 at a loss rate of 1e-3).
const COPIES_OF_PAPER: u32 = 2;
/// Delay of the longest cable in a rack, 40 m.
const CABLE_OF_PAPER: Duration = Duration::from_ns(200);
/// Sizes of both buffers in section 4.
const BUFFER_OF_PAPER: Bytes = Bytes(200_000);
/// Full frames that a repair waits for: the paper's timeouts at 10G and 25G differ by 6 us, or 8.1 frames.
const FRAMES_IN_TIMEOUT: u64 = 8;
/// Time from a frame to its acknowledgement: the pipelines of both switches, the frame itself, one frame ahead of it
/// and one ahead of the acknowledgement.
const PIPELINES: Duration = Duration::from_ns(3_500);
const FRAMES_IN_ACKNOWLEDGEMENT: u64 = 3;

/// Properties of a protected link that determine times and buffers. If they change during the run, the worst of each
/// counts: frames take the time of the lowest rate, and bytes arrive at the highest.
#[derive(Clone, Copy, Debug)]
pub struct LinkShape {
    /// Highest rate.
    pub rate: BitRate,
    /// Lowest rate of both directions, because reports go back on the other one.
    pub lowest_rate: BitRate,
    /// Lowest rate of the protected direction.
    pub lowest_forward_rate: BitRate,
    /// Longest delay.
    pub delay: Duration,
    /// Maximum frame size, without preamble and gap.
    pub frame_max: Bytes,
    pub drain_rate: BitRate,
}

impl LinkShape {
    fn frame_time(self) -> Duration {
        self.lowest_rate.time_for(self.frame_max.0 + u64::from(ETHERNET_OVERHEAD_BYTES))
    }

    /// A link with `rate` in both directions.
    fn at(self, rate: BitRate) -> Self {
        Self { rate, lowest_rate: rate, lowest_forward_rate: rate, ..self }
    }

    /// Links that keep the highest and the lowest rate.
    fn ends(self) -> [Self; 2] {
        [self.rate, self.lowest_rate].map(|rate| self.at(rate))
    }

    /// Extra round-trip delay compared with the paper's cable.
    fn farther(self) -> Duration {
        self.delay.saturating_sub(CABLE_OF_PAPER) * 2
    }

    /// ackNoTimeout for a number of copies. Rates between the paper's take the value of the next higher one.
    ///
    /// The worst case is the last copy of the second of two consecutive losses, so that each copy beyond two adds the
    /// time of two frames. Longer frames and lower rates add [`FRAMES_IN_TIMEOUT`] times the difference in frame time.
    /// A longer cable delays the notification and the repair. A longer cable or a slower loop also keeps more copies in
    /// the sender's loop, and a requested copy waits until it comes round. If the rate falls, the loop still has the
    /// copies of the highest rate.
    pub fn acknowledgement_timeout(self, copies: u32) -> Duration {
        let (_, timeout_ns, ..) = row(self.lowest_rate);
        let of_paper = paper_frame_time(self.lowest_rate.max(LOWEST_OF_PAPER));
        let of_frames = self.frame_time().saturating_sub(of_paper) * FRAMES_IN_TIMEOUT;
        let of_copies = self.frame_time() * u64::from(2 * copies.saturating_sub(COPIES_OF_PAPER));
        let one_round = self.loop_time(self.farther());
        let [at_highest, at_lowest] = self.ends().map(Self::unacknowledged_loop);
        let at_drain_of_paper = Self { drain_rate: DRAIN_OF_PAPER, ..self.ends()[1] }.unacknowledged_loop();
        let slower_loop = at_highest.max(at_lowest).saturating_sub(at_drain_of_paper);
        Duration::from_ns(timeout_ns) + of_frames + of_copies + self.farther() + one_round + slower_loop
    }

    /// Time of the loop for everything that is unacknowledged, without the cable.
    fn unacknowledged_loop(self) -> Duration {
        self.loop_time(PIPELINES + self.frame_time() * FRAMES_IN_ACKNOWLEDGEMENT)
    }

    /// Minimum time from a loss to its repair: the cable in both directions, and one frame.
    pub fn round_trip(self) -> Duration {
        self.frame_time() + self.delay * 2
    }

    /// Time of the loop for everything that the link sends in `span`.
    fn loop_time(self, span: Duration) -> Duration {
        // At 100G the product exceeds 64 bits after 184 us.
        let ratio = u128::from(self.rate.as_bps());
        Duration((u128::from(span.as_ps()) * ratio / u128::from(self.drain_rate.as_bps())) as u64)
    }

    /// Time from the decision to pause or resume the sender to its effect at the receiver.
    pub fn resume_flight(self) -> Duration {
        FLIGHT_AT_100G.saturating_sub(paper_frame_time(DRAIN_OF_PAPER)) + self.frame_time() + self.farther()
    }

    /// Thresholds for resuming and pausing the sender.
    ///
    /// Within the paper's range these are the paper's values. Elsewhere the resume threshold is the bytes that drain
    /// until the resume takes effect, plus the paper's margin, and the pause threshold is two frames above.
    pub fn thresholds(self) -> (Bytes, Bytes) {
        if self.is_of_paper() {
            let (_, _, resume_cells, pause_cells) = row(self.lowest_rate);
            return (Bytes(resume_cells * CELL_BYTES), Bytes(pause_cells * CELL_BYTES));
        }
        // The paper's margin as a time, so that a slower drain has a smaller one; never more than the paper's bytes.
        let margin = MARGIN_BYTES.min(self.drain_rate.bytes_in(DRAIN_OF_PAPER.time_for(MARGIN_BYTES)).0);
        let resume = self.drain_rate.bytes_in(self.resume_flight()).0 + margin;
        (Bytes(resume), Bytes(resume + HYSTERESIS_BYTES.max(2 * self.frame_max.0)))
    }

    /// Whether the paper gives the thresholds.
    fn is_of_paper(self) -> bool {
        self.lowest_rate >= LOWEST_OF_PAPER
            && self.rate <= DRAIN_OF_PAPER
            && self.drain_rate == DRAIN_OF_PAPER
            && self.frame_max.0 <= u64::from(MTU_FRAME_BYTES)
            && self.delay <= CABLE_OF_PAPER
    }

    /// Whether the link is in the paper's range: up to 100G and 40 m.
    pub fn is_in_a_rack(self) -> bool {
        self.rate <= DRAIN_OF_PAPER && self.delay <= CABLE_OF_PAPER
    }

    /// Whether a ring sorts itself while packets arrive: if the loop's rate is a multiple of the link's, by experiment.
    /// At 40, 60, 70 and 80G over a loop of 100G it stays unsorted, pauses the sender again and again, and costs 13 to
    /// 39 % of the line at a loss rate of 1e-3, unless it is emptied at each pause. A link that changes its rate passes
    /// through any of them. The ring takes packets of the protected direction only.
    pub fn ring_sorts_itself(self) -> bool {
        self.rate == self.lowest_forward_rate && self.drain_rate.as_bps().is_multiple_of(self.rate.as_bps().max(1))
    }

    /// Delay that a loss adds to in-order delivery with a ring: the repair, and about four rounds of the waiting
    /// packets, less if the ring is faster than the link.
    pub fn time_of_loss(self, copies: u32) -> Duration {
        let repair = Duration(self.acknowledgement_timeout(copies).as_ps() * 3 / 4);
        let (_, pause) = self.thresholds();
        repair + self.loop_time(self.drain_rate.time_for(pause.0)) * 4
    }

    /// Share of the line that losses cost if packets wait in a ring, at the rates of the protected direction.
    pub fn cost_of_recirculation(self, copies: u32, loss_rate: f64) -> f64 {
        let ends = [self.rate, self.lowest_forward_rate].map(|rate| self.at(rate));
        ends.map(|end| end.cost_of(end.time_of_loss(copies), loss_rate)).into_iter().fold(0.0, f64::max)
    }

    /// Share of the line that losses cost if each takes this time.
    pub fn cost_of(self, each: Duration, loss_rate: f64) -> f64 {
        let ratio = each.as_ps() as f64 * loss_rate / self.frame_time().as_ps() as f64;
        ratio / (1.0 + ratio)
    }

    /// Maximum bytes in the reordering buffer: those waiting when the sender is paused, and those that arrive until the
    /// pause takes effect.
    pub fn reordering_bytes_max(self, pause_threshold: Bytes) -> Bytes {
        Bytes(pause_threshold.0 + self.coming_until_pause().0)
    }

    /// Bytes that arrive until a pause takes effect.
    pub fn coming_until_pause(self) -> Bytes {
        self.rate.bytes_in(self.resume_flight())
    }

    /// Maximum bytes that the sender keeps: a copy stays until its packet is acknowledged or repaired.
    pub fn unacknowledged_bytes_max(self, timeout: Duration) -> Bytes {
        self.rate.bytes_in(timeout)
    }
}

/// A buffer of the paper's size, or a larger one if the link needs it. The margin of a quarter covers whole frames.
pub fn buffer_for(needed: Bytes) -> Bytes {
    Bytes(needed.0 + needed.0 / 4).max(BUFFER_OF_PAPER)
}

/// Time of a frame of 1,518 bytes on the line.
fn paper_frame_time(rate: BitRate) -> Duration {
    rate.time_for(u64::from(MTU_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES))
}

fn row(rate: BitRate) -> (u64, u64, u64, u64) {
    // Rounded up, so that a rate slightly above a row takes the next one; above 100G there is only the last row.
    let gbps = rate.as_bps().div_ceil(1_000_000_000);
    *BY_RATE.iter().find(|row| gbps <= row.0).unwrap_or(&BY_RATE[BY_RATE.len() - 1])
}

/// 1e-4 and 1e-8 give exactly 1; the logarithms can miss it by a rounding error.
const ROUNDING: f64 = 1e-9;

/// Equation 2 of the paper, rounded up: the number of copies that reduce `actual_loss_rate` to `target_loss_rate`.
///
/// At least 1. Both rates lie strictly between 0 and 1.
pub fn copies_for(actual_loss_rate: f64, target_loss_rate: f64) -> u32 {
    // The original and n copies are all lost with probability actual^(n + 1), which may be at most the target.
    let copies = target_loss_rate.log10() / actual_loss_rate.log10() - 1.0;
    (copies - ROUNDING).ceil().max(1.0) as u32
}

/// The number of copies of a loss notification. A packet stays lost if its original is lost (`forward_loss_rate`) and
/// all its notifications are lost (`reverse_loss_rate` each); this must be rarer than `target_loss_rate` (Equation 2,
/// applied to the control messages of section 5). At least 1. Rates lie strictly between 0 and 1.
pub fn control_copies_for(forward_loss_rate: f64, reverse_loss_rate: f64, target_loss_rate: f64) -> u32 {
    // Solves forward * reverse^n = target for n.
    let copies = (target_loss_rate / forward_loss_rate).log10() / reverse_loss_rate.log10();
    (copies - ROUNDING).ceil().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_A_RACK: LinkShape = LinkShape {
        rate: BitRate::from_gbps(100),
        lowest_rate: BitRate::from_gbps(100),
        lowest_forward_rate: BitRate::from_gbps(100),
        delay: Duration::from_ns(50),
        frame_max: Bytes(1_518),
        drain_rate: BitRate::from_gbps(100),
    };

    fn at(gbps: u64) -> LinkShape {
        changing(gbps, gbps)
    }

    fn changing(lowest_gbps: u64, highest_gbps: u64) -> LinkShape {
        let [lowest_rate, rate] = [lowest_gbps, highest_gbps].map(BitRate::from_gbps);
        LinkShape { rate, lowest_rate, lowest_forward_rate: lowest_rate, ..IN_A_RACK }
    }

    /// Frames take the time of the lowest rate, and buffers hold the bytes of the highest.
    #[test]
    fn a_link_that_changes_takes_the_worst_of_all_rates() {
        for (low, high) in [(10, 100), (25, 100), (1, 10), (40, 400), (100, 100)] {
            let both = changing(low, high);
            for end in [at(low), at(high)] {
                let what = format!("{low} and {high}G, {}", end.rate);
                assert!(both.acknowledgement_timeout(3) >= end.acknowledgement_timeout(3), "{what}");
                assert!(both.round_trip() >= end.round_trip(), "{what}");
                let ((resume, pause), (resume_of_end, pause_of_end)) = (both.thresholds(), end.thresholds());
                assert!(resume >= resume_of_end && pause >= pause_of_end, "{what}");
                assert!(both.reordering_bytes_max(pause) >= end.reordering_bytes_max(pause_of_end), "{what}");
                assert!(both.cost_of_recirculation(2, 1e-3) >= end.cost_of_recirculation(2, 1e-3), "{what}");
                let timeout = both.acknowledgement_timeout(2);
                assert!(both.unacknowledged_bytes_max(timeout) >= end.unacknowledged_bytes_max(timeout), "{what}");
            }
            assert_eq!(both.ring_sorts_itself(), low == high);
        }
        // 13.5 us of 10G, and a loop with 3.5 us and three frames of 123.04 ns at 100G instead of 7.1912 us at 10G.
        let timeout = changing(10, 100).acknowledgement_timeout(2);
        assert_eq!(timeout.as_ps(), 13_500_000 + 3_869_120 - 719_120);
    }

    /// The ring and its cost are as on a link with the rate of the protected direction both ways; times are not.
    #[test]
    fn a_slower_way_back_is_no_change_of_the_rate() {
        for (back, there) in [(10, 100), (25, 100), (1, 10), (10, 25)] {
            let slow_back = LinkShape { lowest_forward_rate: BitRate::from_gbps(there), ..changing(back, there) };
            assert!(slow_back.ring_sorts_itself(), "{there}G, and {back}G back");
            for copies in [1, 2, 5] {
                let [cost, both] = [slow_back, at(there)].map(|link| link.cost_of_recirculation(copies, 1e-3));
                assert_eq!(cost, both, "{there}G, and {back}G back");
            }
            assert!(slow_back.acknowledgement_timeout(2) > at(there).acknowledgement_timeout(2));
        }
    }

    #[test]
    fn at_the_papers_rates_the_papers_values() {
        let table = [(10, 13_500, 622, 662), (25, 7_500, 497, 537), (100, 7_000, 460, 500)];
        for (gbps, timeout_ns, resume_cells, pause_cells) in table {
            assert_eq!(at(gbps).acknowledgement_timeout(2), Duration::from_ns(timeout_ns), "{gbps}G");
            let (resume, pause) = at(gbps).thresholds();
            assert_eq!((resume.0, pause.0), (resume_cells * 80, pause_cells * 80), "{gbps}G");
            assert_eq!(buffer_for(at(gbps).reordering_bytes_max(pause)), BUFFER_OF_PAPER, "{gbps}G");
        }
    }

    /// The formula reproduces the paper's resume threshold at the border of the paper's range.
    #[test]
    fn the_thresholds_have_no_step_at_the_end_of_the_papers_range() {
        for gbps in [10, 25, 100] {
            let (paper, _) = at(gbps).thresholds();
            let (derived, _) = LinkShape { frame_max: Bytes(1_519), ..at(gbps) }.thresholds();
            let ratio = derived.0 as f64 / paper.0 as f64;
            assert!((0.99..1.05).contains(&ratio), "{gbps}G: {derived:?} for {paper:?}");
        }
        // 1.6 us at 100G less a frame of 123.04 ns, and one of 30.76 ns: 1.50772 us, in which 400G drain 75,386 bytes.
        let fast = LinkShape { drain_rate: BitRate::from_gbps(400), ..at(400) };
        assert_eq!(fast.thresholds(), (Bytes(75_386 + 16_800), Bytes(75_386 + 16_800 + 3_200)));
    }

    #[test]
    fn each_copy_beyond_two_puts_the_timeout_off() {
        let of_copies = |copies| at(10).acknowledgement_timeout(copies).as_ps() / 1_000;
        assert_eq!([1, 2, 3, 4].map(of_copies), [13_500, 13_500, 15_960, 18_421]);
    }

    /// Over 1 us at 100G, in the swarm's world 10,103,067, a copy came 8.4 us after its loss was found, and was given
    /// up.
    #[test]
    fn on_a_longer_link_the_receiver_waits_for_the_cable_and_for_the_fuller_loop() {
        let of_delay = |ns| LinkShape { delay: Duration::from_ns(ns), ..IN_A_RACK }.acknowledgement_timeout(2);
        assert_eq!([0, 200, 1_000].map(of_delay), [7_000, 7_000, 10_200].map(Duration::from_ns));
    }

    #[test]
    fn the_timeout_grows_with_the_frame_time_and_with_a_slower_loop() {
        let jumbo = LinkShape { frame_max: Bytes(9_018), ..at(10) };
        // 9,038 B take 7.2304 us, 6 us more than 1,538 B: eight times as much.
        assert_eq!(jumbo.acknowledgement_timeout(2), Duration::from_ns(13_500 + 48_000));
        let slow = at(1);
        // A full frame takes 12.304 us: 11.0736 us more than at 10G.
        assert_eq!(slow.acknowledgement_timeout(2).as_ps(), 13_500_000 + 8 * 11_073_600);
        // 3.5 us and three frames of 1.2304 us are 7.1912 us: one round at 10G, a tenth of it at 100G.
        let slow_loop = LinkShape { drain_rate: BitRate::from_gbps(10), ..at(10) };
        assert_eq!(slow_loop.acknowledgement_timeout(2).as_ps(), 13_500_000 + 7_191_200 - 719_120);
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
