//! Values in human notation: numbers, addresses, prefixes, masks and ranges.

use crate::bits;
use crate::entries::Match;
use crate::error::{Error, Result, refuse};
use crate::number::{Number, Wide, wide};
use crate::program::{Key, MatchKind, ValueSet};

/// Parses a number for a field of `width` bits: decimal, 0x, 0b, 0o, or an IPv4, MAC or IPv6 address if the width fits.
pub fn number(text: &str, width: u32) -> Result<Wide> {
    if let Some(bytes) = address(text, width) {
        return Ok(wide(&bytes));
    }
    let (digits, radix) = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (&text[2..], 16),
        Some("0b") => (&text[2..], 2),
        Some("0o") => (&text[2..], 8),
        _ => (text, 10),
    };
    let mut value = Wide::ZERO;
    let base = Wide::from(radix);
    for digit in digits.chars() {
        let Some(digit) = digit.to_digit(radix) else { refuse!("\"{text}\" is no number") };
        value = value * base + Wide::from(digit);
        if value.bits() > 2048 {
            refuse!("\"{text}\" has more than 2048 bits");
        }
    }
    if digits.is_empty() {
        refuse!("\"{text}\" is no number");
    }
    Ok(value)
}

fn address(text: &str, width: u32) -> Option<Vec<u8>> {
    match width {
        32 => text.parse::<std::net::Ipv4Addr>().ok().map(|address| address.octets().to_vec()),
        128 => text.parse::<std::net::Ipv6Addr>().ok().map(|address| address.octets().to_vec()),
        48 => {
            let bytes: Vec<_> = text.split(':').map(|part| u8::from_str_radix(part, 16).ok()).collect();
            let bytes: Option<Vec<_>> = bytes.into_iter().collect();
            bytes.filter(|bytes| bytes.len() == 6)
        }
        _ => None,
    }
}

/// Parses a match of simple_switch_CLI: `10.0.0.0/8`, `0x800&&&0xffff`, `1->5`, or a value.
pub fn matched(text: &str, key: &Key) -> Result<Match> {
    let width = key.width;
    let of = match key.kind {
        MatchKind::Exact => Match::Exact(number(text, width)?),
        MatchKind::Longest => match text.split_once('/') {
            Some((value, length)) => Match::Prefix(number(value, width)?, prefix_length(length)?),
            None => refuse!("{}: \"{text}\" is no prefix as 10.0.0.0/8", key.name),
        },
        MatchKind::Ternary => match (text.split_once("&&&"), text.split_once('/')) {
            (Some((value, mask)), _) => Match::Ternary(number(value, width)?, number(mask, width)?),
            (None, Some((value, length))) => Match::Prefix(number(value, width)?, prefix_length(length)?),
            (None, None) => refuse!("{}: \"{text}\" is no value with a mask as 0x800&&&0xffff", key.name),
        },
        MatchKind::Range => match text.split_once("->") {
            Some((start, end)) => {
                let (start, end) = (number(start, width)?, number(end, width)?);
                if start > end {
                    refuse!("{}: the range \"{text}\" ends before it begins", key.name);
                }
                Match::Range(start, end)
            }
            None => refuse!("{}: \"{text}\" is no range as 1->5", key.name),
        },
    };
    Ok(of)
}

fn prefix_length(text: &str) -> Result<u32> {
    text.parse().map_err(|_| Error::new(format!("\"{text}\" is no length of a prefix")))
}

/// Parses a number of at most 64 bits, decimal or hexadecimal with 0x.
pub fn small(text: &str) -> Result<u64> {
    let value = number(text, 64)?;
    if value.bits() > 64 {
        refuse!("\"{text}\" has more than 64 bits");
    }
    Ok(value.word(0))
}

/// Converts a member of a value set to the form of parser keys: each part padded to whole bytes.
pub fn member_key(known: &ValueSet, value: &Wide) -> Box<[u8]> {
    let mut packed = vec![0; known.width.div_ceil(8) as usize + 8];
    value.write(&mut packed, bits::Slot { bit: 0, width: known.width, is_signed: false });
    let bytes: u32 = known.parts.iter().map(|width| width.div_ceil(8)).sum();
    let width: u32 = known.parts.iter().sum();
    assert!(known.parts.is_empty() || width == known.width, "the parts of a value set have its width together");
    let mut key = vec![0; bytes as usize];
    let (mut from, mut end) = (0, 0);
    for &width in &known.parts {
        end += width.div_ceil(8);
        bits::copy(&mut key, (8 * end - width) as usize, &packed, from as usize, width as usize);
        from += width;
    }
    key.into()
}
