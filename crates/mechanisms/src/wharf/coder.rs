//! The coder for real frames: computes parity of frames, and restores frames from the rest of a block.
//!
//! Reed-Solomon runs across the frames of a block, each prefixed with its length and padded to the longest. As many
//! frames can be restored as there are parity frames, whichever are lost. A simulation has no bytes: there the
//! mechanism uses [`can_restore`] and [`parity_frame_bytes`], and a test compares the two.

use std::fmt;

use crate::wharf::header::WharfHeader;
use hitless_core::wire::Shim;
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;

/// Maximum number of data frames in a block (published programs).
pub const DATA_FRAMES_MAX: usize = 50;
/// Maximum number of parity frames in a block (published programs).
pub const PARITY_FRAMES_MAX: usize = 5;

const LENGTH_BYTES: usize = 2;
const ETHERNET_HEADER_BYTES: usize = 14;
const CHECK_SEQUENCE_BYTES: usize = 4;

/// Why a block cannot be coded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodingError {
    /// The block has no data frame or more than [`DATA_FRAMES_MAX`], or more parity frames than [`PARITY_FRAMES_MAX`].
    BlockSize { data_frames: usize, parity_frames: usize },
    /// A frame's length exceeds two bytes.
    TooLong(usize),
    /// Fewer frames are left than the block has data frames.
    TooManyLost,
    /// The parity frames of a block have different lengths, or are shorter than a data frame.
    ParityLength,
    /// The restored bytes are not a frame: parity and data do not belong to the same block.
    Damaged,
}

impl fmt::Display for CodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlockSize { data_frames, parity_frames } => write!(
                f,
                "a block has 1 to {DATA_FRAMES_MAX} data frames and at most {PARITY_FRAMES_MAX} parity frames, not \
                 {data_frames} and {parity_frames}"
            ),
            Self::TooLong(bytes) => write!(f, "a frame of {bytes} bytes is longer than a block can hold"),
            Self::TooManyLost => f.write_str("more frames are lost than there are parity frames left"),
            Self::ParityLength => f.write_str("the parity frames are not as long as those of the block"),
            Self::Damaged => f.write_str("what was restored is no frame"),
        }
    }
}

impl std::error::Error for CodingError {}

/// Whether all data frames of a block can be restored from the received ones.
pub const fn can_restore(data_frames: usize, data_received: usize, parity_received: usize) -> bool {
    data_received + parity_received >= data_frames
}

/// Coded bytes of each frame of a block with a longest frame of `longest_bytes` without check sequence: length and
/// frame, rounded up to an even number.
const fn shard_bytes(longest_bytes: usize) -> usize {
    // `reed_solomon_simd` needs shards of even length.
    (LENGTH_BYTES + longest_bytes).next_multiple_of(2)
}

/// Length with check sequence of the parity frames of a block. `longest_frame_bytes` is the longest data frame, with
/// check sequence and without Wharf's header.
pub const fn parity_frame_bytes(longest_frame_bytes: u32) -> u32 {
    let coded = shard_bytes(longest_frame_bytes as usize - CHECK_SEQUENCE_BYTES);
    let bytes = (ETHERNET_HEADER_BYTES + WharfHeader::BYTES + coded + CHECK_SEQUENCE_BYTES) as u32;
    if bytes < MINIMUM_FRAME_BYTES { MINIMUM_FRAME_BYTES } else { bytes }
}

/// Computes the contents of a block's parity frames behind their headers. `frames` have no check sequence.
///
/// # Errors [`CodingError`]: too many frames, or frames that are too long.
pub fn encode(frames: &[&[u8]], parity_frames: usize) -> Result<Vec<Vec<u8>>, CodingError> {
    check_size(frames.len(), parity_frames)?;
    let longest = frames.iter().map(|frame| frame.len()).max().unwrap_or(0);
    if longest > usize::from(u16::MAX) {
        return Err(CodingError::TooLong(longest));
    }
    if parity_frames == 0 {
        return Ok(Vec::new());
    }
    let shards = frames.iter().map(|frame| shard(frame, shard_bytes(longest)));
    let coded = reed_solomon_simd::encode(frames.len(), parity_frames, shards);
    Ok(coded.expect("the sizes are checked, and all shards have the same"))
}

/// Restores the missing data frames in `frames`, with their positions, from the others and the received parity.
///
/// # Errors [`CodingError`]: too many frames are missing, or parity and data do not belong together.
pub fn restore(frames: &[Option<&[u8]>], parity: &[Option<&[u8]>]) -> Result<Vec<(usize, Vec<u8>)>, CodingError> {
    check_size(frames.len(), parity.len())?;
    let data_received = frames.iter().flatten().count();
    if data_received == frames.len() {
        return Ok(Vec::new());
    }
    if !can_restore(frames.len(), data_received, parity.iter().flatten().count()) {
        return Err(CodingError::TooManyLost);
    }
    let bytes = parity.iter().flatten().map(|parity| parity.len()).next().ok_or(CodingError::TooManyLost)?;
    let longest = frames.iter().flatten().map(|frame| frame.len()).max().unwrap_or(0);
    let is_alike = parity.iter().flatten().all(|parity| parity.len() == bytes);
    if !is_alike || !bytes.is_multiple_of(2) || bytes < shard_bytes(longest) {
        return Err(CodingError::ParityLength);
    }
    let data = frames.iter().enumerate().filter_map(|(place, frame)| Some((place, shard((*frame)?, bytes))));
    let parity_with_place = parity.iter().enumerate().filter_map(|(place, parity)| Some((place, (*parity)?)));
    let restored = reed_solomon_simd::decode(frames.len(), parity.len(), data, parity_with_place);
    let restored = restored.expect("enough shards of one size, each of a place of its own");
    let mut restored: Vec<_> = restored.into_iter().collect();
    restored.sort_unstable_by_key(|&(place, _)| place);
    restored.into_iter().map(|(place, shard)| Ok((place, frame_in(&shard)?))).collect()
}

fn check_size(data_frames: usize, parity_frames: usize) -> Result<(), CodingError> {
    let is_legal = (1..=DATA_FRAMES_MAX).contains(&data_frames) && parity_frames <= PARITY_FRAMES_MAX;
    if is_legal { Ok(()) } else { Err(CodingError::BlockSize { data_frames, parity_frames }) }
}

/// Builds a shard: length, frame and padding.
fn shard(frame: &[u8], bytes: usize) -> Vec<u8> {
    let mut shard = Vec::with_capacity(bytes);
    shard.extend_from_slice(&(frame.len() as u16).to_be_bytes());
    shard.extend_from_slice(frame);
    shard.resize(bytes, 0);
    shard
}

fn frame_in(shard: &[u8]) -> Result<Vec<u8>, CodingError> {
    let (length, rest) = shard.split_first_chunk::<LENGTH_BYTES>().ok_or(CodingError::Damaged)?;
    // Bytes restored from another block's parity are arbitrary: length and padding reveal most of them.
    let (frame, padding) =
        rest.split_at_checked(usize::from(u16::from_be_bytes(*length))).ok_or(CodingError::Damaged)?;
    if padding.iter().any(|&byte| byte != 0) { Err(CodingError::Damaged) } else { Ok(frame.to_vec()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block() -> impl Strategy<Value = (Vec<Vec<u8>>, usize)> {
        let frames = prop::collection::vec(prop::collection::vec(any::<u8>(), 14..1_600), 1..=DATA_FRAMES_MAX);
        (frames, 0..=PARITY_FRAMES_MAX)
    }

    /// Marks the first `count` positions of a shuffle of all frames of the block.
    fn lost(places: usize, count: usize, seed: u64) -> Vec<bool> {
        let mut order: Vec<usize> = (0..places).collect();
        let mut state = seed | 1;
        for place in (1..places).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(place, (state >> 33) as usize % (place + 1));
        }
        (0..places).map(|place| order[..count].contains(&place)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Any of the data and parity frames may be lost, as many as there are parity frames.
        #[test]
        fn what_is_lost_comes_back_bit_by_bit(
            (frames, parity_frames) in block(),
            share in 0.0f64..=1.0,
            seed in any::<u64>(),
        ) {
            let views: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
            let parity = encode(&views, parity_frames).expect("a legal block");
            let count = (share * (parity_frames + 1) as f64) as usize;
            let lost = lost(frames.len() + parity_frames, count.min(parity_frames), seed);
            let (data_lost, parity_lost) = lost.split_at(frames.len());
            let left: Vec<_> = views.iter().zip(data_lost).map(|(frame, lost)| (!lost).then_some(*frame)).collect();
            let parity_left: Vec<_> =
                parity.iter().zip(parity_lost).map(|(parity, lost)| (!lost).then_some(parity.as_slice())).collect();
            let restored = restore(&left, &parity_left).expect("enough is left");
            let expected: Vec<_> =
                frames.iter().cloned().enumerate().filter(|&(place, _)| data_lost[place]).collect();
            prop_assert_eq!(restored, expected);
        }

        #[test]
        fn one_loss_too_many_is_not_restored((frames, parity_frames) in block(), seed in any::<u64>()) {
            let views: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
            let parity = encode(&views, parity_frames).expect("a legal block");
            let count = (parity_frames + 1).min(frames.len());
            let lost = lost(frames.len(), count, seed);
            let left: Vec<_> = views.iter().zip(&lost).map(|(frame, lost)| (!lost).then_some(*frame)).collect();
            let parity_left: Vec<_> = parity.iter().map(|parity| Some(parity.as_slice())).collect();
            let result = restore(&left, &parity_left);
            prop_assert_eq!(result.is_err(), count > parity_frames);
        }

        /// For any bytes from the other end, the coder answers and does not panic.
        #[test]
        fn any_bytes_are_restored_or_refused(
            frames in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..80)), 0..6),
            parity in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..80)), 0..7),
        ) {
            let frames: Vec<_> = frames.iter().map(Option::as_deref).collect();
            let parity: Vec<_> = parity.iter().map(Option::as_deref).collect();
            let _ = restore(&frames, &parity);
        }
    }

    #[test]
    fn blocks_and_frames_beyond_the_limits_are_refused() {
        let frame = [0; 60];
        let many = vec![&frame[..]; DATA_FRAMES_MAX + 1];
        for (frames, parity_frames) in [(&many[..0], 1), (&many[..], 1), (&many[..1], PARITY_FRAMES_MAX + 1)] {
            let refused = CodingError::BlockSize { data_frames: frames.len(), parity_frames };
            assert_eq!(encode(frames, parity_frames), Err(refused));
        }
        let long = vec![0; 65_536];
        assert_eq!(encode(&[&long], 1), Err(CodingError::TooLong(65_536)));
    }

    #[test]
    fn a_parity_frame_is_as_long_as_what_it_carries() {
        for bytes in [60usize, 61, 1_513, 1_514] {
            let parity = encode(&[&vec![1; bytes]], 1).expect("a legal block");
            let frame = ETHERNET_HEADER_BYTES + WharfHeader::BYTES + parity[0].len() + CHECK_SEQUENCE_BYTES;
            assert_eq!(parity_frame_bytes(bytes as u32 + 4), frame as u32);
        }
        assert_eq!(parity_frame_bytes(1_518), 1_540);
    }
}
