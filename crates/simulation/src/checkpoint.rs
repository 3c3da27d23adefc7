//! The file format of a checkpoint: identity of the run, state of the run, and a digest over both.
//!
//! Layout: `BEGINNING`, the [`Mark`], the length of the body, the body, eight bytes of digest.

use std::fmt;

use hitless_core::state::{Damaged, Reader, Value, Writer};

/// The first bytes of every checkpoint; the digit is the version of the format.
const BEGINNING: &[u8; 20] = b"hitless checkpoint 1";

/// The run that a checkpoint belongs to.
#[derive(Clone, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Mark {
    /// Identity of the program's build: only the build that wrote the bytes can read them.
    pub program: String,
    /// The effective scenario as TOML.
    pub scenario: String,
    /// The seed of the run; the scenario contains it too.
    pub seed: u64,
}

/// Why a checkpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The bytes differ from those written.
    Damaged(String),
    /// It belongs to another program, scenario or seed; the text names both.
    OfAnother(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(how) => write!(formatter, "the checkpoint is damaged: {how}"),
            Self::OfAnother(difference) => write!(formatter, "the checkpoint {difference}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Damaged> for Refusal {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged.to_string())
    }
}

impl Mark {
    /// Refuses a checkpoint of any run but `run`.
    pub(crate) fn matches(&self, run: &Self) -> Result<(), Refusal> {
        let difference = if self.program != run.program {
            format!("was written by hitless {}, and this is hitless {}", self.program, run.program)
        } else if self.seed != run.seed {
            format!("is of a run with seed {}, and this one has seed {}", self.seed, run.seed)
        } else if self.scenario != run.scenario {
            let [mut theirs, mut ours] = [&self.scenario, &run.scenario].map(|text| text.lines());
            let mut differing =
                std::iter::repeat_with(|| (theirs.next(), ours.next())).skip_while(|(a, b)| a == b && a.is_some());
            let (theirs, ours) = differing.next().unwrap_or_default();
            let [theirs, ours] = [theirs, ours].map(Option::unwrap_or_default);
            format!("is of another scenario: it has `{theirs}`, and this one has `{ours}`")
        } else {
            return Ok(());
        };
        Err(Refusal::OfAnother(difference))
    }
}

/// Encodes a checkpoint with `body` as its state.
pub(crate) fn sealed(mark: &Mark, body: &[u8]) -> Vec<u8> {
    let mut out = Writer::default();
    out.bytes(BEGINNING);
    out.value(mark);
    out.value(&body.len());
    out.bytes(body);
    let mut bytes = out.finish();
    let digest = digest_of(&bytes);
    bytes.extend(digest.to_le_bytes());
    bytes
}

/// Verifies a checkpoint and returns its mark and body.
///
/// # Errors
/// If the bytes differ from those written.
pub(crate) fn checked(bytes: &[u8]) -> Result<(Mark, &[u8]), Refusal> {
    let damaged = |how: &str| Refusal::Damaged(how.to_owned());
    let (content, digest) = bytes.split_last_chunk::<8>().ok_or_else(|| damaged("it is empty"))?;
    if !content.starts_with(BEGINNING) {
        return Err(damaged("it does not begin as a checkpoint does"));
    }
    if u64::from_le_bytes(*digest) != digest_of(content) {
        return Err(damaged("its digest is that of other bytes"));
    }
    let mut from = Reader::new(&content[BEGINNING.len()..]);
    let mark = Mark::read(&mut from)?;
    let count = from.count()?;
    let body = from.bytes(count)?;
    from.finish()?;
    Ok((mark, body))
}

/// Digest of bytes and their number, against accidents, not against attackers. Each step is a bijection on the state,
/// so damage confined to eight bytes is always detected.
fn digest_of(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |state, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        // An odd factor, hence invertible modulo 2^64: 2^64 divided by the golden ratio (Knuth, volume 3, section 6.4).
        let mixed = (state ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hash that multiplies by its input forgets everything before a word of ones.
    #[test]
    fn damage_before_a_word_of_ones_is_found() {
        let mut bytes = vec![7; 200];
        bytes[100..140].fill(0xff);
        let mark = Mark { program: "p".into(), scenario: "s".into(), seed: 1 };
        let whole = sealed(&mark, &bytes);
        assert_eq!(checked(&whole), Ok((mark, &bytes[..])));
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(matches!(checked(&damaged), Err(Refusal::Damaged(_))), "bit {bit} of byte {at}");
            }
            assert!(matches!(checked(&whole[..at]), Err(Refusal::Damaged(_))), "the first {at} bytes");
        }
    }
}
