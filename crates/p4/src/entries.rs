//! Table entries from text or documents; each value is checked against the width of its field.

use crate::error::{Result, refuse};
use crate::number::{Number, Wide};
use crate::program::{Call, Entry, Key, MatchKind, Program, Table, Target};
use crate::tables::prefix_mask;

/// The condition on a field of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is one for each field of an entry that is being made")]
pub enum Match {
    Exact(Wide),
    /// Equal to this value in this many leading bits.
    Prefix(Wide, u32),
    /// Equal to this value in the bits of the mask.
    Ternary(Wide, Wide),
    /// Between these two values, inclusive.
    Range(Wide, Wide),
}

/// Creates an entry of `table` from one [`Match`] for each field of its key.
pub fn entry(table: &Table, matches: &[Match], priority: i64, target: Target) -> Result<Entry> {
    if matches.len() != table.key.len() {
        refuse!("the table {} has {} fields in its key, and {} are given", table.name, table.key.len(), matches.len());
    }
    let words = table.key_words as usize;
    let (mut key, mut mask) = (vec![0; words].into_boxed_slice(), vec![0; words].into_boxed_slice());
    let mut prefix = 0;
    for (of, given) in table.key.iter().zip(matches) {
        let first = of.word as usize;
        let (value, other) = normal(table, of, given)?;
        for word in 0..of.words() {
            let ones = prefix_mask(of.width.max(1), of.width, word);
            mask[first + word] = other.map_or(ones, |other| other.word(word));
            let kept = if of.kind == MatchKind::Range { u64::MAX } else { mask[first + word] };
            key[first + word] = value.word(word) & kept;
        }
        if let (MatchKind::Longest, Match::Prefix(_, length)) = (of.kind, given) {
            prefix = *length;
        }
    }
    Ok(Entry { key, mask, prefix, priority, target })
}

/// The value of a field, with its mask or the end of its range.
fn normal(table: &Table, of: &Key, given: &Match) -> Result<(Wide, Option<Wide>)> {
    let fits = |value: &Wide| {
        if value.bits() > of.width {
            let bits = value.bits();
            refuse!("{}: the value of {} has {bits} bits, and the field {}", table.name, of.name, of.width);
        }
        Ok(*value)
    };
    match (of.kind, given) {
        (MatchKind::Exact, Match::Exact(value)) => Ok((fits(value)?, None)),
        (MatchKind::Longest | MatchKind::Ternary, Match::Exact(value)) => Ok((fits(value)?, None)),
        (MatchKind::Longest | MatchKind::Ternary, Match::Prefix(value, length)) => {
            if *length > of.width {
                refuse!("{}: {} has {} bits, and the prefix {length}", table.name, of.name, of.width);
            }
            let mask: Vec<_> = (0..of.words()).map(|word| prefix_mask(of.width, *length, word)).collect();
            Ok((fits(value)?, Some(Wide::from_words(&mask))))
        }
        (MatchKind::Ternary, Match::Ternary(value, mask)) => Ok((fits(value)? & *mask, Some(fits(mask)?))),
        (MatchKind::Range, Match::Range(start, end)) => Ok((fits(start)?, Some(fits(end)?))),
        (MatchKind::Range, Match::Exact(value)) => Ok((fits(value)?, Some(*value))),
        (kind, _) => refuse!("{}: {} is matched {}, and is given otherwise", table.name, of.name, kind.name()),
    }
}

/// An action with its data, one value for each parameter.
pub fn call(program: &Program, action: u32, values: &[Wide]) -> Result<Call> {
    let of = &program.actions[action as usize];
    if values.len() != of.parameters.len() {
        refuse!("the action {} has {} parameters, and {} are given", of.name, of.parameters.len(), values.len());
    }
    let mut data = vec![0; of.data_bytes as usize];
    for ((name, slot), value) in of.parameters.iter().zip(values) {
        if value.bits() > slot.width {
            let bits = value.bits();
            refuse!("{}: the value of {name} has {bits} bits, and the parameter {}", of.name, slot.width);
        }
        value.write(&mut data, *slot);
    }
    Ok(Call { action, data: data.into() })
}
