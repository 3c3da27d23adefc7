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
    fn read(text: &str) -> Result<Self, QuantityError>;
    /// Writes the value in a form from which [`Self::read`] gives the same value back.
    fn text(self) -> String;
}

/// Maximum number of digits before or after the point that any unit can need.
const DIGITS_MAX: usize = 24;

/// The units of a quantity. Only hints understand the other spellings, "5 usec" or "10 GB/s": a prefix and a stem, in
/// lower case and separated by blanks. The scale is their product divided by `divisor`.
struct Units {
    names: &'static [Unit],
    prefixes: &'static [Unit],
    stems: &'static [Unit],
    divisor: u64,
}

const TIME: Units = Units {
    names: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        ("min", 60_000_000_000_000),
        ("h", 3_600_000_000_000_000),
    ],
    prefixes: &[
        ("", 1_000_000_000_000),
        ("m milli", 1_000_000_000),
        ("u \u{b5} \u{3bc} micro", 1_000_000),
        ("n nano", 1_000),
        ("p pico", 1),
    ],
    stems: &[(" s sec secs second seconds", 1), ("min mins minute minutes", 60), ("h hr hour hours", 3_600)],
    divisor: 1,
};
const DATA_PREFIXES: &[Unit] = &[
    ("", 1),
    ("k", 1_000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
    ("t", 1_000_000_000_000),
    ("ki", 1 << 10),
    ("mi", 1 << 20),
    ("gi", 1 << 30),
];
const RATE: Units = Units {
    names: &[("bps", 1), ("Kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)],
    prefixes: DATA_PREFIXES,
    stems: &[(" b bit bits", 1), ("B byte bytes", 8)],
    divisor: 1,
};
const BYTES: Units = Units {
    names: &[
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    prefixes: DATA_PREFIXES,
    // In bits. In a size "b" is a careless "B".
    stems: &[(" b B byte bytes", 8), ("bit bits", 1)],
    divisor: 8,
};
const PACKETS: Units =
    Units { names: &[("packets", 1)], prefixes: &[("", 1)], stems: &[("p pkt pkts frame frames", 1)], divisor: 1 };

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
        parse::<Self>(text, &[TIME]).map(|(base, _)| Duration(base))
    }

    fn text(self) -> String {
        write_time(self.as_ps())
    }
}

impl Quantity for Time {
    const FORMAT: &'static str = "time";
    const EXAMPLE: &'static str = "20 ms";

    fn read(text: &str) -> Result<Self, QuantityError> {
        parse::<Self>(text, &[TIME]).map(|(base, _)| Time(base))
    }

    fn text(self) -> String {
        write_time(self.as_ps())
    }
}

impl Quantity for Bytes {
    const FORMAT: &'static str = "size";
    const EXAMPLE: &'static str = "300 KB";

    fn read(text: &str) -> Result<Self, QuantityError> {
        parse::<Self>(text, &[BYTES]).map(|(base, _)| Bytes(base))
    }

    fn text(self) -> String {
        // Only whole numbers: 1448 B reads better than 1.448 KB.
        let whole = |&&(_, scale): &&Unit| self.0.is_multiple_of(scale) && self.0 >= scale;
        let (name, scale) = BYTES.names[..4].iter().rev().find(whole).unwrap_or(&BYTES.names[0]);
        format!("{} {name}", self.0 / scale)
    }
}

impl Quantity for BitRate {
    const FORMAT: &'static str = "rate";
    const EXAMPLE: &'static str = "100 Gbps";

    fn read(text: &str) -> Result<Self, QuantityError> {
        let (base, _) = parse::<Self>(text, &[RATE])?;
        BitRate::from_bps(base).ok_or_else(|| QuantityError {
            rule: "a rate must be above zero".into(),
            hint: Some("to stop a link from carrying anything, take it down".into()),
        })
    }

    fn text(self) -> String {
        write_in(self.as_bps(), RATE.names)
    }
}

impl Quantity for QueueLength {
    const FORMAT: &'static str = "queue length";
    const EXAMPLE: &'static str = "65 packets";

    fn read(text: &str) -> Result<Self, QuantityError> {
        let (base, unit) = parse::<Self>(text, &[PACKETS, BYTES])?;
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
    /// Returns a number without a unit as text with the usual unit.
    pub with_unit: fn(&str) -> String,
    pub check: fn(&str) -> Result<(), QuantityError>,
}

/// Finds the format by name; `None` if it does not denote a quantity.
pub(crate) fn format_named(name: &str) -> Option<Format> {
    fn of<Q: Quantity>() -> Format {
        Format { with_unit: with_unit::<Q>, check: |text| Q::read(text).map(drop) }
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

fn parse<Q: Quantity>(text: &str, tables: &[Units]) -> Result<(u64, &'static str), QuantityError> {
    let trimmed = text.trim();
    let number_end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(trimmed.len());
    let (number, unit_text) = (&trimmed[..number_end], trimmed[number_end..].trim_start());
    let names = || tables.iter().flat_map(|table| table.names.iter().map(|(name, _)| *name));
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        let never = || trimmed.starts_with('-').then(|| format!("a {} is never negative", Q::FORMAT));
        return Err(rule::<Q>(names(), plain_number(trimmed).map(did_you_mean).or_else(never)));
    }
    if unit_text.is_empty() {
        return Err(rule::<Q>(names(), Some(format!("give a unit, as in \"{}\"", with_unit::<Q>(number)))));
    }
    let mut units = tables.iter().flat_map(|table| table.names);
    let Some(&(unit, scale)) = units.find(|(name, _)| *name == canonical(unit_text)) else {
        if unit_text == "m" && names().any(|name| name == "min") {
            let either = format!("did you mean \"{number} ms\" or \"{number} min\"?");
            return Err(rule::<Q>(names(), Some(either)));
        }
        let spelled = tables.iter().find_map(|table| table.respelled(number, unit_text));
        let nearest = || closest(unit_text, names()).map(|name| format!("{number} {name}"));
        let guess = spelled.or_else(|| plain_number(trimmed)).or_else(nearest);
        return Err(rule::<Q>(names(), guess.map(did_you_mean)));
    };
    exact(number, scale).map(|base| (base, unit)).map_err(|rule| QuantityError { rule: rule.into(), hint: None })
}

fn did_you_mean(text: String) -> String {
    format!("did you mean \"{text}\"?")
}

/// Rewrites a quantity with an exponent, a sign or a leading point, as in "5e-3 s".
fn plain_number(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !".eE+-".contains(c))?;
    let is_plain = !text[..end].contains(['e', 'E', '+']) && !text.starts_with('.');
    let number = text[..end].parse::<f64>().ok().filter(|number| !is_plain && (0.0..1e15).contains(number))?;
    Some(format!("{number} {}", canonical(text[end..].trim_start())))
}

/// Returns `number` in the unit of the example, or the example if this would be absurdly large.
fn with_unit<Q: Quantity>(number: &str) -> String {
    match Q::EXAMPLE.split_once(' ') {
        Some((_, unit)) if number.len() < 4 && number.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{number} {unit}")
        }
        _ => Q::EXAMPLE.into(),
    }
}

impl Units {
    /// Rewrites a quantity with another spelling of a unit.
    fn respelled(&self, number: &str, unit: &str) -> Option<String> {
        let unit = ["/s", "/sec", "ps"].iter().find_map(|end| unit.strip_suffix(end)).unwrap_or(unit);
        // Only "B" and "b" differ by case.
        let is_same = |word: &str, text: &str| word == text || (text != "B" && word == text.to_lowercase());
        let prefixes = self.prefixes.iter().flat_map(|(words, scale)| words.split(' ').map(move |word| (word, scale)));
        let product = prefixes.filter(|_| !unit.is_empty()).find_map(|(prefix, scale)| {
            let (start, rest) = unit.split_at_checked(prefix.len())?;
            let (_, times) = self.stems.iter().find(|(stems, _)| stems.split(' ').any(|stem| is_same(stem, rest)))?;
            is_same(prefix, start).then_some(scale * times)
        })?;
        let scale = product.is_multiple_of(self.divisor).then_some(product / self.divisor)?;
        match self.names.iter().find(|(_, of_name)| *of_name == scale) {
            Some((name, _)) => Some(format!("{number} {name}")),
            None => exact(number, scale).ok().map(|base| write_in(base, &self.names[..self.names.len().min(4)])),
        }
    }
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

fn rule<Q: Quantity>(units: impl Iterator<Item = &'static str>, hint: Option<String>) -> QuantityError {
    let units: Vec<_> = units.collect();
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
    if ps == 0 { "0 s".into() } else { write_in(ps, &TIME.names[..5]) }
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
