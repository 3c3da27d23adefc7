//! Look-up tables in place of multiplication, division and the exponential function (section 4.2), with ranges between
//! powers of two as keys.
//!
//! The authors' program has ranges from 2 to 64; here they cover all ranks. A table with the new average as its result
//! would never leave a range, because a packet moves an average by much less than a power of two: the table holds the
//! change.

use hitless_core::engine::draws::exp;

/// The range of a number: one range for 0, and one between each power of two and the next.
pub const fn bucket(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

const fn middle(bucket: u32) -> u64 {
    match bucket {
        0 => 0,
        1 => 1,
        _ => 3 << (bucket - 2),
    }
}

/// 1 - exp(-rank / mean) for the middles of their ranges.
pub fn tabled_share(rank: u32, mean: u32) -> f64 {
    if rank == 0 || mean == 0 {
        return 0.0;
    }
    let ratio = middle(bucket(rank)) as f64 / middle(bucket(mean)) as f64;
    1.0 - exp((-ratio).max(-700.0))
}

/// The change of an average by a packet of `rank` with weight 1/`parts`, for the middles of their ranges; at least 1 if
/// the ranges differ.
pub fn tabled_change(mean: u32, rank: u32, parts: u32) -> i32 {
    let (of_mean, of_rank) = (middle(bucket(mean)) as i64, middle(bucket(rank)) as i64);
    let change = (of_rank - of_mean) / i64::from(parts);
    // Without a minimum the division would round small changes to 0, and the average would stop short of the rank's
    // range.
    let least = (of_rank - of_mean).signum();
    let change = if change == 0 { least } else { change };
    change.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}
