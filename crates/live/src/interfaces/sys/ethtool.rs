//! Features of an interface by name: ethtool requests (linux/ethtool.h).

use std::io;

use super::network::Control;

const GSTRINGS: u32 = 0x1b;
const GSSET_INFO: u32 = 0x37;
const GFEATURES: u32 = 0x3a;
const GCHANNELS: u32 = 0x3c;
const SFEATURES: u32 = 0x3b;
/// The set of strings that holds the names of features.
const STRINGS_OF_FEATURES: u32 = 4;
/// Words per name: 32 bytes.
const NAME_WORDS: usize = 8;
/// Maximum plausible number of features, far above the real one (64 in Linux 6); larger counts are rejected.
const FEATURES_LIMIT: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Name in the kernel's spelling, as in `ethtool -k` (`tx-tcp-segmentation`).
    pub name: String,
    pub active: bool,
    /// Its position in the kernel's masks.
    bit: usize,
    pub changeable: bool,
}

/// Reads all features of interface `name`.
pub fn features(control: &Control, name: &str) -> io::Result<Vec<Feature>> {
    let names = names(control, name)?;
    let blocks = names.len().div_ceil(32);
    // struct ethtool_gfeatures: cmd, size, then per block: available, requested, active, never_changed.
    let mut words = vec![0_u32; 2 + 4 * blocks];
    words[0] = GFEATURES;
    words[1] = u32::try_from(blocks).map_err(io::Error::other)?;
    let room = words.len();
    // SAFETY: the kernel writes the header and at most `size` blocks of four words each.
    unsafe { control.ethtool(name, &mut words, room) }?;
    let feature = |(bit, name): (usize, String)| {
        let block = &words[2 + 4 * (bit / 32)..];
        let is_set = |word: usize| block[word] >> (bit % 32) & 1 == 1;
        Feature { name, active: is_set(2), bit, changeable: is_set(0) && !is_set(3) }
    };
    Ok(names.into_iter().enumerate().map(feature).filter(|feature| !feature.name.is_empty()).collect())
}

/// Switches `chosen` features of interface `name` on or off. The kernel can switch others that depend on them.
pub fn switch<'a>(
    control: &Control,
    name: &str,
    chosen: impl IntoIterator<Item = &'a Feature>,
    on: bool,
) -> io::Result<()> {
    let blocks = count(control, name)?.div_ceil(32);
    // struct ethtool_sfeatures: cmd, size, then per block: valid, requested.
    let mut words = vec![0_u32; 2 + 2 * blocks];
    words[0] = SFEATURES;
    words[1] = u32::try_from(blocks).map_err(io::Error::other)?;
    for feature in chosen {
        let block = 2 + 2 * (feature.bit / 32);
        let Some(pair) = words.get_mut(block..block + 2) else { continue };
        pair[0] |= 1 << (feature.bit % 32);
        pair[1] |= u32::from(on) << (feature.bit % 32);
    }
    let room = words.len();
    // SAFETY: the kernel reads the header and `size` blocks of two words, and writes only the header.
    unsafe { control.ethtool(name, &mut words, room) }
}

/// Reads the number of receive queues of interface `name`, including those that also transmit.
pub fn receive_queues(control: &Control, name: &str) -> io::Result<u32> {
    // struct ethtool_channels: cmd, then the maximum and the present number of rx, tx, other, combined.
    let mut words = [0_u32; 9];
    words[0] = GCHANNELS;
    // SAFETY: the kernel writes this structure, which has nine words.
    unsafe { control.ethtool(name, &mut words, 9) }?;
    Ok(words[5].saturating_add(words[8]))
}

fn names(control: &Control, name: &str) -> io::Result<Vec<String>> {
    let count = count(control, name)?;
    // struct ethtool_gstrings: cmd, string_set, len, then the strings.
    let mut words = vec![0_u32; 3 + NAME_WORDS * count];
    words[..3].copy_from_slice(&[GSTRINGS, STRINGS_OF_FEATURES, u32::try_from(count).map_err(io::Error::other)?]);
    let room = words.len();
    // SAFETY: the kernel writes one string per feature; the number of features is constant, and `count` is the kernel's
    // answer.
    unsafe { control.ethtool(name, &mut words, room) }?;
    Ok(words[3..].chunks(NAME_WORDS).map(text).collect())
}

fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn count(control: &Control, name: &str) -> io::Result<usize> {
    // struct ethtool_sset_info: cmd, reserved, a mask of 64 bits, then one count per bit that was set.
    let mut words = [0_u32; 5];
    words[0] = GSSET_INFO;
    let mask = (1_u64 << STRINGS_OF_FEATURES).to_ne_bytes();
    words[2] = u32::from_ne_bytes([mask[0], mask[1], mask[2], mask[3]]);
    words[3] = u32::from_ne_bytes([mask[4], mask[5], mask[6], mask[7]]);
    // SAFETY: a single bit of the mask is set, so the kernel writes the header and one count: five words.
    unsafe { control.ethtool(name, &mut words, 5) }?;
    let count = words[4] as usize;
    if count > FEATURES_LIMIT { Err(io::Error::from(io::ErrorKind::InvalidData)) } else { Ok(count) }
}
