//! The speed of a saturated link (section 4.1), by arithmetic, for simulations without packets.

use std::ops::RangeInclusive;

use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_core::wire::{BitRate, Bytes, Duration, Shim};

use super::headers::DataHeader;
use super::parameters::LinkShape;
use super::settings::{Buffering, LinkGuardianSettings, Mode};

/// Range of the runs that were compared with the arithmetic.
const RATES: RangeInclusive<BitRate> = BitRate::from_gbps(1)..=BitRate::from_gbps(800);
const LOSS_RATE_MAX: f64 = 1e-2;
/// Line time that a loss costs if packets wait in paused queues: the maximum in single runs at 100 to 800G.
const COST_OF_PAUSED_QUEUES: Duration = Duration::from_ns(600);

/// Returns the share of its rate that a saturated link keeps for full frames, each counted once. `None` outside of 1 to
/// 800 Gb/s, and above a loss rate of 1e-2.
///
/// The link is in a rack, settings have their defaults, and recirculation ports have 100G or the link's rate. Headers,
/// the copies of lost packets, and in blocking mode the wait for them take the rest. Runs without `deduplicate` show
/// higher speeds in non-blocking mode, because they count second copies.
pub fn saturated_speed(rate: BitRate, mode: Mode, loss_rate: f64) -> Option<f64> {
    if !RATES.contains(&rate) || !(f64::MIN_POSITIVE..=LOSS_RATE_MAX).contains(&loss_rate) {
        return None;
    }
    let frame_max = Bytes(u64::from(MTU_FRAME_BYTES));
    let drain_rate = rate.max(BitRate::from_gbps(100));
    let link =
        LinkShape { rate, lowest_rate: rate, lowest_forward_rate: rate, delay: Duration::ZERO, frame_max, drain_rate };
    let mut settings = LinkGuardianSettings { mode, actual_loss_rate: Some(loss_rate), ..Default::default() };
    settings.fill_in(link);
    let copies = settings.copy_count();
    let waiting = match (mode, settings.waiting_place()) {
        (Mode::NonBlocking, _) => 0.0,
        (Mode::Blocking, Buffering::Recirculation) => link.cost_of_recirculation(copies, loss_rate),
        (Mode::Blocking, Buffering::PausedQueue) => link.cost_of(COST_OF_PAUSED_QUEUES, loss_rate),
    };
    let frame = f64::from(MTU_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES);
    let with_header = frame + f64::from(DataHeader::WIRE_BYTES);
    Some(frame / with_header / (1.0 + f64::from(copies) * loss_rate) * (1.0 - waiting))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn percent(gbps: u64, mode: Mode, loss_rate: f64) -> Option<f64> {
        saturated_speed(BitRate::from_gbps(gbps), mode, loss_rate).map(|share| share * 100.0)
    }

    /// The headers leave 1538/1541 = 99.805 %; 1 + N p of copies divides it, and waiting takes a share of the rest.
    #[test]
    fn the_speed_follows_from_the_terms_by_hand() {
        let cases = [
            (400, Mode::NonBlocking, 1e-4, 99.805 / 1.0001),
            (400, Mode::NonBlocking, 1e-3, 99.805 / 1.002),
            (1, Mode::NonBlocking, 1e-2, 99.805 / 1.03),
            // Three quarters of 7.5 us, and four rounds of 42,960 B that drain in 3.4368 us, at a quarter of the rate.
            (25, Mode::Blocking, 1e-3, 99.805 / 1.002 / (1.0 + 9.0618e-3 / 0.49216)),
            // A frame takes 30.76 ns.
            (400, Mode::Blocking, 1e-3, 99.805 / 1.002 / (1.0 + 0.6e-3 / 0.03076)),
        ];
        for (gbps, mode, loss_rate, expected) in cases {
            let found = percent(gbps, mode, loss_rate).unwrap();
            assert!((found - expected).abs() < 0.002, "{gbps}G {mode:?} {loss_rate}: {found} for {expected}");
        }
    }

    #[test]
    fn a_link_without_a_basis_has_no_speed() {
        for (gbps, loss_rate) in [(801, 1e-3), (100, 0.011), (100, 0.0), (100, -1.0), (100, f64::NAN)] {
            assert_eq!(percent(gbps, Mode::Blocking, loss_rate), None, "{gbps}G {loss_rate}");
        }
        assert_eq!(saturated_speed(BitRate::from_bps(999_999_999).unwrap(), Mode::Blocking, 1e-3), None);
    }

    proptest! {
        #[test]
        fn order_is_never_faster(gbps in 1u64..=800, exponent in -12.0f64..=-2.0) {
            let loss_rate = 10f64.powf(exponent).min(LOSS_RATE_MAX);
            let [blocking, free] = [Mode::Blocking, Mode::NonBlocking].map(|mode| percent(gbps, mode, loss_rate));
            prop_assert!(Some(50.0) < blocking && blocking <= free && free < Some(100.0), "{blocking:?} {free:?}");
        }
    }
}
