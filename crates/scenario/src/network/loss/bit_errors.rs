//! Losses by bit errors on the line, after forward error correction.
//!
//! The line carries consecutive blocks, whether or not there are frames: 66-bit blocks of 64B/66B coding, or codewords
//! of a Reed-Solomon code over symbols of 10 bits (IEEE 802.3, clauses 91, 108, 119 and 134). A codeword of RS(528,514)
//! or RS(544,514) contains a message of 514 symbols: 20 blocks of 257 bits, which are 80 blocks with 64 bits of data
//! each. A codeword with more symbol errors than the code corrects is uncorrectable; the receiver marks its blocks, so
//! that all frames that touch it are lost (clause 91.5.3.3). At 200G and above two codewords are interleaved symbol by
//! symbol, and both are marked (clause 119).
//!
//! The model assumes that bit errors are independent, that the receiver detects every uncorrectable codeword, and that
//! no damaged frame passes its check sequence.

use hitless_core::engine::{Stream, draws};
use hitless_core::wire::{BitRate, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrival::ArrivingFrame;

const SYMBOL_BITS: u32 = 10;
const CODEWORD_DATA_BITS: u64 = 5_120;
const BLOCK_BITS: u32 = 66;
const BLOCK_DATA_BITS: u64 = 64;
/// Minimum rate at which two codewords are interleaved.
const INTERLEAVED_FROM_BPS: u64 = 200_000_000_000;
/// Preamble and start delimiter: a frame is lost if they are damaged.
const PREAMBLE_BYTES: u64 = 8;

/// Losses by independent bit errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitErrorLoss {
    /// Share of wrong bits on the line, before correction.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub bit_error_rate: f64,
    /// Forward error correction of the link.
    pub fec: ErrorCorrection,
}

/// Forward error correction of an Ethernet link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ErrorCorrection {
    /// No correction, as in 10GBASE-R: a wrong bit spoils its block of 66 bits.
    #[default]
    #[serde(rename = "none")]
    None,
    /// RS(528,514), as in 25GBASE-SR and 100GBASE-SR4 (IEEE 802.3, clauses 91 and 108): it corrects 7 of 528 symbols of
    /// 10 bits.
    #[serde(rename = "rs-528-514")]
    Rs528,
    /// RS(544,514), as on PAM4 links of 50G and above (clauses 91, 119 and 134): it corrects 15 of 544 symbols of 10
    /// bits. At 200G and above two codewords are interleaved (clause 119). PHYs above 400G may interleave more.
    #[serde(rename = "rs-544-514")]
    Rs544,
}

impl ErrorCorrection {
    /// Returns its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rs528 => "rs-528-514",
            Self::Rs544 => "rs-544-514",
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// Returns the number of codewords that are interleaved on a link of `rate`.
    const fn interleaved(rate: BitRate) -> u32 {
        if rate.as_bps() >= INTERLEAVED_FROM_BPS { 2 } else { 1 }
    }

    /// Returns the time that a receiver waits for the rest of a codeword, and of those interleaved with it, before it
    /// can correct the first bit.
    pub fn latency(self, rate: BitRate) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Rs528 | Self::Rs544 => rate.time_for(CODEWORD_DATA_BITS / 8 * u64::from(Self::interleaved(rate))),
        }
    }
}

/// The unit of loss: a block or codeword that is spoilt as a whole by too many errors.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    /// Bits of frames (and of the gaps between them) that it carries.
    data_bits: u64,
    /// Probability that it is spoilt.
    loss: f64,
}

impl Unit {
    fn new(settings: &BitErrorLoss, rate: BitRate) -> Self {
        let (symbols, corrected) = match settings.fec {
            ErrorCorrection::None => {
                let loss = more_errors_than(0, BLOCK_BITS, settings.bit_error_rate);
                return Self { data_bits: BLOCK_DATA_BITS, loss };
            }
            ErrorCorrection::Rs528 => (528, 7),
            ErrorCorrection::Rs544 => (544, 15),
        };
        let symbol_errors = more_errors_than(0, SYMBOL_BITS, settings.bit_error_rate);
        let codeword = more_errors_than(corrected, symbols, symbol_errors);
        let interleaved = ErrorCorrection::interleaved(rate);
        Self {
            data_bits: u64::from(interleaved) * CODEWORD_DATA_BITS,
            loss: more_errors_than(0, interleaved, codeword),
        }
    }

    /// Returns the probability that a frame is lost, averaged over its possible offsets within a unit.
    fn frame_loss(&self, frame_bytes: u32) -> f64 {
        let bits = data_bits(frame_bytes);
        // Its first and last bit are `bits - 1` apart. This distance contains a fixed number of unit borders, or one
        // more.
        let (least, rest) = ((bits - 1) / self.data_bits, (bits - 1) % self.data_bits);
        let one_more = rest as f64 / self.data_bits as f64;
        let of_units = |units: u64| more_errors_than(0, units as u32, self.loss);
        (1.0 - one_more) * of_units(least + 1) + one_more * of_units(least + 2)
    }
}

/// Returns the probability that a frame of this length, including the check sequence, is lost on a link of `rate`.
pub(crate) fn frame_loss_rate(settings: &BitErrorLoss, rate: BitRate, frame_bytes: u32) -> f64 {
    Unit::new(settings, rate).frame_loss(frame_bytes)
}

fn data_bits(frame_bytes: u32) -> u64 {
    8 * (u64::from(frame_bytes) + PREAMBLE_BYTES)
}

/// Returns the probability of more than `count` errors in `places` if each place errs independently with `probability`.
///
/// It sums the terms of the binomial distribution relative to the largest term and never subtracts from one, so that
/// tiny results are exact too. It uses only the four basic operations, so the result is the same on every machine.
fn more_errors_than(count: u32, places: u32, probability: f64) -> f64 {
    if probability <= 0.0 || probability >= 1.0 {
        return if probability > 0.0 && places > count { 1.0 } else { 0.0 };
    }
    let odds = probability / (1.0 - probability);
    let mode = ((f64::from(places) + 1.0) * probability) as u32;
    assert!(mode <= places, "the likeliest number of errors is one of those that there can be");
    let (mut all, mut more) = (0.0, 0.0);
    let mut add = |errors: u32, term: f64| {
        all += term;
        more += if errors > count { term } else { 0.0 };
    };
    let mut term = 1.0;
    // Start at the mode with a term of 1: all other terms are smaller, so the sums cannot overflow, and the scale
    // cancels in the quotient.
    for errors in mode..=places {
        add(errors, term);
        term *= odds * f64::from(places - errors) / f64::from(errors + 1);
    }
    let mut term = 1.0;
    for errors in (0..mode).rev() {
        term *= f64::from(errors + 1) / (odds * f64::from(places - errors));
        add(errors, term);
    }
    assert!(more <= all && all.is_finite(), "{more} of {all}: a probability is between 0 and 1");
    more / all
}

/// The bit errors of a link.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct BitErrors {
    #[configured]
    rate_bps: u128,
    #[configured]
    unit: Unit,
    /// Mean of the exponential draw that, rounded down, is the number of good units before a spoilt one.
    #[configured]
    mean_units: f64,
    /// Offset of the units.
    phase_bits: u64,
    /// The next spoilt unit.
    next_spoilt: u64,
}

impl BitErrors {
    pub fn new(settings: &BitErrorLoss, rate: BitRate, stream: &mut Stream) -> Self {
        let unit = Unit::new(settings, rate);
        assert!(unit.data_bits > 0, "a unit of the line's code has bits of data");
        let mut errors = Self {
            rate_bps: u128::from(rate.as_bps()),
            unit,
            mean_units: 1.0 / minus_ln_of_complement(unit.loss),
            phase_bits: draws::below(stream, unit.data_bits as usize) as u64,
            next_spoilt: 0,
        };
        errors.draw_from(0, stream);
        errors
    }

    /// Draws the next spoilt unit at or after `first`.
    fn draw_from(&mut self, first: u64, stream: &mut Stream) {
        self.next_spoilt = first.saturating_add(good_units(draws::exponential(stream), self.mean_units));
    }

    /// Returns whether the frame touches a spoilt unit.
    ///
    /// Units without a frame do not matter, so only one spoilt unit is drawn ahead.
    #[inline]
    pub fn strikes(&mut self, frame: ArrivingFrame, stream: &mut Stream) -> bool {
        let end_bits =
            (u128::from(frame.at.as_ps()) * self.rate_bps / u128::from(Duration::from_seconds(1).as_ps())) as u64;
        let end_bits = end_bits + self.phase_bits;
        let first = end_bits.saturating_sub(data_bits(frame.frame_bytes)) / self.unit.data_bits;
        let last = end_bits.saturating_sub(1) / self.unit.data_bits;
        // The drawn unit passed without a frame. Errors are memoryless, so the next spoilt unit can be drawn from this
        // frame's first unit.
        if self.next_spoilt < first {
            self.draw_from(first, stream);
        }
        self.next_spoilt <= last
    }
}

/// Converts a draw to a number of good units before a spoilt one; an infinite mean gives the maximum.
fn good_units(exponential: f64, mean_units: f64) -> u64 {
    // The draw can be exactly zero, and zero times infinity is not a number. The cast saturates.
    if mean_units.is_infinite() { u64::MAX } else { (exponential * mean_units) as u64 }
}

/// Computes -ln(1 - p), also for p so small that 1 - p would round to 1.
fn minus_ln_of_complement(probability: f64) -> f64 {
    if probability < 1e-5 {
        return probability + probability * probability / 2.0 + probability * probability * probability / 3.0;
    }
    if probability >= 1.0 { f64::INFINITY } else { -draws::ln(1.0 - probability) }
}

#[cfg(test)]
mod tests;
