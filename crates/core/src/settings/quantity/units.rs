//! Quantities with units, as files write them: `"100 Gbps"`, `"1.5 us"`, `"300 KB"`, `"65 packets"`.
//!
//! A number without a unit is refused: nobody should have to remember whether a delay is in nanoseconds. Values are
//! read and written exactly (decimal digits, no floating point), so that a round trip changes nothing.

use std::fmt;

use crate::settings::closest;
use crate::wire::{BitRate, Bytes, Duration, Time};

/// The reason why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// Required form of the text.
    pub rule: String,
    /// A correction, if one can be guessed.
    pub hint: Option<String>,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rule)?;
        self.hint.iter().try_for_each(|hint| write!(f, " ({hint})"))
    }
}

/// A unit: its name and its size in base units (ps, bit/s, bytes).
type Unit = (&'static str, u64);

/// A value that is written as a number and a unit.
pub trait Quantity: Copy {
    /// Name of the kind, as used in the schema's `format`.
    const FORMAT: &'static str;
    const EXAMPLE: &'static str;
    /// Parses the text.
    ///
    /// # Errors
    /// If `text` is not a number and a unit of this kind.
    fn read(text: &str) -> Result<Self, QuantityError>;
    /// Writes the value in a form from which [`Self::read`] gives the same value back.
    fn text(self) -> String;
}

/// Maximum number of digits before or after the point that any unit can need.
const DIGITS_MAX: usize = 24;

const TIME_UNITS: &[Unit] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("min", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
];
const RATE_UNITS: &[Unit] =
    &[("bps", 1), ("Kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];
const BYTE_UNITS: &[Unit] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const PACKET_UNITS: &[Unit] = &[("packets", 1)];

/// Maximum length of a queue, in packets or in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLength {
    /// Packets, independent of their size.
    Packets(u64),
    /// Bytes of frames.
    Bytes(Bytes),
}

impl Quantity for Duration {
    const FORMAT: &'static str = "duration";
    const EXAMPLE: &'static str = "1.5 us";

    fn read(text: &str) -> Result<Self, QuantityError> {
        parse::<Self>(text, &[TIME_UNITS]).map(|(base, _)| Duration(base))
    }

    fn text(self) -> String {
        write_time(self.as_ps())
    }
}

impl Quantity for Time {
    const FORMAT: &'static str = "time";
    const EXAMPLE: &'static str = "20 ms";

    fn read(text: &str) -> Result<Self, QuantityError> {
        parse::<Self>(text, &[TIME_UNITS]).map(|(base, _)| Time(base))
    }

    fn text(self) -> String {
        write_time(self.as_ps())
    }
}

impl Quantity for Bytes {
    const FORMAT: &'static str = "size";
    const EXAMPLE: &'static str = "300 KB";

    fn read(text: &str) -> Result<Self, QuantityError> {
        parse::<Self>(text, &[BYTE_UNITS]).map(|(base, _)| Bytes(base))
    }

    fn text(self) -> String {
        // Only whole numbers: 1448 B reads better than 1.448 KB.
        let whole = |&&(_, scale): &&Unit| self.0.is_multiple_of(scale) && self.0 >= scale;
        let (name, scale) = BYTE_UNITS[..4].iter().rev().find(whole).unwrap_or(&BYTE_UNITS[0]);
        format!("{} {name}", self.0 / scale)
    }
}

impl Quantity for BitRate {
    const FORMAT: &'static str = "rate";
    const EXAMPLE: &'static str = "100 Gbps";

    fn read(text: &str) -> Result<Self, QuantityError> {
        let (base, _) = parse::<Self>(text, &[RATE_UNITS])?;
        BitRate::from_bps(base).ok_or_else(|| QuantityError {
            rule: "a rate must be above zero".into(),
            hint: Some("to stop a link from carrying anything, take it down".into()),
        })
    }

    fn text(self) -> String {
        write_in(self.as_bps(), RATE_UNITS)
    }
}

impl Quantity for QueueLength {
    const FORMAT: &'static str = "queue length";
    const EXAMPLE: &'static str = "65 packets";

    fn read(text: &str) -> Result<Self, QuantityError> {
        let (base, unit) = parse::<Self>(text, &[PACKET_UNITS, BYTE_UNITS])?;
        Ok(if unit == "packets" { QueueLength::Packets(base) } else { QueueLength::Bytes(Bytes(base)) })
    }

    fn text(self) -> String {
        match self {
            QueueLength::Packets(count) => format!("{count} packets"),
            QueueLength::Bytes(bytes) => bytes.text(),
        }
    }
}

/// The rule behind a schema `format` that denotes a quantity.
pub(crate) struct Format {
    pub example: &'static str,
    pub check: fn(&str) -> Result<(), QuantityError>,
}

/// Finds the format by name; `None` if it does not denote a quantity.
pub(crate) fn format_named(name: &str) -> Option<Format> {
    fn of<Q: Quantity>() -> Format {
        Format { example: Q::EXAMPLE, check: |text| Q::read(text).map(drop) }
    }
    Some(match name {
        Duration::FORMAT => of::<Duration>(),
        Time::FORMAT => of::<Time>(),
        Bytes::FORMAT => of::<Bytes>(),
        BitRate::FORMAT => of::<BitRate>(),
        QueueLength::FORMAT => of::<QueueLength>(),
        _ => return None,
    })
}

fn parse<Q: Quantity>(text: &str, tables: &[&[Unit]]) -> Result<(u64, &'static str), QuantityError> {
    let trimmed = text.trim();
    let number_end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(trimmed.len());
    let (number, unit_text) = (&trimmed[..number_end], trimmed[number_end..].trim_start());
    let units = || tables.iter().flat_map(|table| table.iter().copied());
    let names = || units().map(|(name, _)| name).collect::<Vec<_>>();
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(rule::<Q>(&names(), None));
    }
    if unit_text.is_empty() {
        let example = names().first().map(|unit| format!("give a unit, as in \"{number} {unit}\""));
        return Err(rule::<Q>(&names(), example));
    }
    let Some((unit, scale)) = units().find(|(name, _)| *name == canonical(unit_text)) else {
        let guess = closest(unit_text, names()).map(|name| format!("did you mean \"{number} {name}\"?"));
        return Err(rule::<Q>(&names(), guess));
    };
    exact(number, scale).map(|base| (base, unit)).map_err(|rule| QuantityError { rule: rule.into(), hint: None })
}

/// Maps other spellings to the unit's usual name.
fn canonical(unit: &str) -> &str {
    match unit {
        "µs" | "μs" => "us",
        "kB" => "KB",
        "kbps" => "Kbps",
        "packet" => "packets",
        other => other,
    }
}

fn rule<Q: Quantity>(units: &[&str], hint: Option<String>) -> QuantityError {
    let rule = format!("a {} is a number and a unit ({}), as in \"{}\"", Q::FORMAT, units.join(", "), Q::EXAMPLE);
    QuantityError { rule, hint }
}

/// Multiplies `number` (decimal digits, at most one point) by `scale`, exactly.
fn exact(number: &str, scale: u64) -> Result<u64, &'static str> {
    let digits = number.replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if fraction.contains('.') || whole.is_empty() {
        return Err("a number has at most one decimal point");
    }
    let fraction = fraction.trim_end_matches('0');
    if whole.len().max(fraction.len()) > DIGITS_MAX {
        return Err("a number of so many digits is out of range");
    }
    let units = whole.parse::<u128>().ok().and_then(|whole| whole.checked_mul(u128::from(scale)));
    let divisor = 10_u128.pow(fraction.len() as u32);
    let parts = fraction.parse::<u128>().unwrap_or(0).checked_mul(u128::from(scale));
    let (Some(units), Some(parts)) = (units, parts) else { return Err("the value is out of range") };
    if parts % divisor != 0 {
        return Err("the value is finer than the smallest unit");
    }
    u64::try_from(units + parts / divisor).map_err(|_| "the value is out of range")
}

fn write_time(ps: u64) -> String {
    if ps == 0 { "0 s".into() } else { write_in(ps, &TIME_UNITS[..5]) }
}

/// Writes `base` in the largest fitting unit (each unit is a power of ten), without trailing zeros.
fn write_in(base: u64, units: &[Unit]) -> String {
    let fitting = units.iter().rev().find(|(_, scale)| *scale <= base);
    let (name, scale) = fitting.copied().unwrap_or(units[0]);
    let fraction = format!("{:0width$}", base % scale, width = scale.ilog10() as usize);
    match fraction.trim_end_matches('0') {
        "" => format!("{} {name}", base / scale),
        digits => format!("{}.{digits} {name}", base / scale),
    }
}

#[cfg(test)]
mod tests;
