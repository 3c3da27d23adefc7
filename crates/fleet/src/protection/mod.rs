//! The effect of LinkGuardian on a corrupting link.

mod table;

use hitless_core::wire::BitRate;

use crate::{LossRate, Problem};
pub use table::Table;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Protection {
    /// Remaining loss rate; at most the link's.
    pub effective: LossRate,
    /// Remaining speed.
    pub speed_bps: u64,
}

impl Protection {
    fn new(rate: BitRate, loss: LossRate, effective: f64, speed: f64) -> Self {
        let effective = LossRate::new(effective.min(loss.as_f64())).unwrap_or(loss);
        Self { effective, speed_bps: (rate.as_bps() as f64 * speed).round() as u64 }
    }
}

/// Remaining speed of a link as a share of its rate, by arithmetic; `None` outside the range of the arithmetic.
pub type SpeedOf = fn(BitRate, f64) -> Option<f64>;

#[derive(Clone, Debug)]
pub enum Effects {
    /// The published simulator's table, with its speeds at 100G.
    Published {
        /// Whether packets stay in order.
        in_order: bool,
        /// Speed at other rates.
        other_rates: SpeedOf,
    },
    /// A user's table.
    Measured(Table),
}

/// A row of the published table.
struct Published {
    loss: f64,
    effective: f64,
    /// Speed at 100G with packets in order, and in any order.
    speeds: [f64; 2],
}

/// Measured at 100G.
///
/// Losses and speeds in order are the published simulator's. The first three rows are the paper's (figure 8); the last
/// comes from the simulator alone. For packets in any order there is one published sample, 98.74 % at 1e-3. In the
/// first two rows waiting costs almost nothing, so both modes have the same speed. In the last, the sample pays for
/// three copies instead of two. The effective loss depends on the number of copies only, so it is the same at all rates
/// and in both modes.
const PUBLISHED: [Published; 4] = [
    Published { loss: 1.43e-5, effective: 5.97e-10, speeds: [0.9876, 0.9876] },
    Published { loss: 9.16e-5, effective: 7.56e-9, speeds: [0.9874, 0.9874] },
    Published { loss: 1.16e-3, effective: 1.29e-9, speeds: [0.9088, 0.9874] },
    Published { loss: 1e-2, effective: 1e-8, speeds: [0.6, 0.9606] },
];
const RATE_OF_PUBLISHED: BitRate = BitRate::from_gbps(100);

impl Effects {
    /// The published table without arithmetic: links of other rates are refused.
    pub const AT_100G: Effects = Effects::Published { in_order: true, other_rates: |_, _| None };

    /// Returns the effect on a link of this rate and loss rate. An error if it is unknown.
    pub fn on(&self, rate: BitRate, loss: LossRate) -> Result<Protection, Problem> {
        let (effective, speed) = match self {
            Self::Published { in_order, other_rates } => {
                let row = nearest(loss.as_f64());
                let of_table = row.speeds[usize::from(!in_order)];
                let speed = if rate == RATE_OF_PUBLISHED { Some(of_table) } else { other_rates(rate, loss.as_f64()) };
                (row.effective, speed.ok_or_else(|| unknown(rate, loss))?)
            }
            Self::Measured(table) => table.at(rate, loss.as_f64())?,
        };
        Ok(Protection::new(rate, loss, effective, speed))
    }
}

/// Returns the nearest row on a linear scale, or the first of two equally near ones: the published simulator's rule.
fn nearest(loss: f64) -> &'static Published {
    let distance = |row: &Published| (loss - row.loss).abs();
    let nearer = |best, next| if distance(next) < distance(best) { next } else { best };
    PUBLISHED.iter().reduce(nearer).expect("the table has rows")
}

fn unknown(rate: BitRate, loss: LossRate) -> Problem {
    let what =
        format!("the speed under protection is unknown on a link of {rate} with a loss rate of {:e}", loss.as_f64());
    Problem::new(what, "--protection")
        .hint("the arithmetic covers 1 to 800 Gb/s and loss rates up to 1e-2; give a CSV file with measurements")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(rate: f64) -> LossRate {
        LossRate::new(rate).unwrap()
    }

    #[test]
    fn the_nearest_measurement_counts() {
        let cases = [
            (1e-8, 5.97e-10),
            (5.29e-5, 5.97e-10),
            (5.30e-5, 7.56e-9),
            (6.25e-4, 7.56e-9),
            (6.26e-4, 1.29e-9),
            (5.57e-3, 1.29e-9),
            (5.59e-3, 1e-8),
            (1.0, 1e-8),
        ];
        for (rate, effective) in cases {
            let found = Effects::AT_100G.on(RATE_OF_PUBLISHED, loss(rate)).unwrap();
            assert_eq!(found.effective.as_f64(), effective, "at {rate}");
        }
    }

    #[test]
    fn speeds_are_whole_numbers_of_bits() {
        let any_order = Effects::Published { in_order: false, other_rates: |_, _| Some(0.5) };
        for (effects, gbps, rate, mbps) in [
            (&Effects::AT_100G, 100, 1e-5, 98_760),
            (&Effects::AT_100G, 100, 1e-4, 98_740),
            (&Effects::AT_100G, 100, 1e-3, 90_880),
            (&Effects::AT_100G, 100, 1e-2, 60_000),
            (&any_order, 100, 1e-3, 98_740),
            (&any_order, 100, 1e-2, 96_060),
            (&any_order, 400, 1e-3, 200_000),
        ] {
            let found = effects.on(BitRate::from_gbps(gbps), loss(rate)).unwrap();
            assert_eq!(found.speed_bps, mbps * 1_000_000, "{gbps}G, {rate}");
        }
    }

    #[test]
    fn no_loss_grows_by_protection() {
        let found = Effects::AT_100G.on(RATE_OF_PUBLISHED, loss(1e-12)).unwrap();
        assert_eq!(found.effective, loss(1e-12));
    }

    #[test]
    fn a_rate_without_a_speed_is_refused() {
        let problem = Effects::AT_100G.on(BitRate::from_gbps(40), loss(1e-3)).unwrap_err();
        assert!(problem.what.contains("40 Gb/s with a loss rate of 1e-3"), "{problem}");
    }
}
