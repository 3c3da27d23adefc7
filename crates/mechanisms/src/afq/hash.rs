//! Hash functions of a sketch. "AFQ re-uses one of several hashes that are already computed by the switch" (section
//! 3.2): their input is the 5-tuple as a descriptor has it, a hash and the two addresses.

use super::settings::AfqHash;

/// The identity of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub u64);

impl Key {
    #[inline]
    pub const fn of_five_tuple(flow_hash: u32, source: u32, destination: u32) -> Self {
        Self((source ^ destination.rotate_left(16)) as u64 ^ ((flow_hash as u64) << 32))
    }
}

/// The hash functions, one per row.
#[derive(Clone, Debug)]
pub enum Hashes {
    /// Odd multipliers.
    MultiplyShift(Vec<u64>),
    /// Rows 0 to 3: CRC-32, CRC-16, Internet checksum, the key itself.
    Checksums,
}

impl Hashes {
    /// The functions of `rows` rows. The multipliers of multiply-shift (Dietzfelbinger et al. 1997) follow from `seed`.
    pub fn new(family: AfqHash, seed: u64, rows: u8) -> Self {
        match family {
            AfqHash::MultiplyShift => {
                let mut state = seed;
                Self::MultiplyShift((0..rows).map(|_| split_mix(&mut state) | 1).collect())
            }
            AfqHash::Checksums => Self::Checksums,
        }
    }

    /// The column of a key in a row of `columns`.
    #[inline]
    pub fn column(&self, row: usize, key: Key, columns: u32) -> usize {
        match self {
            Self::MultiplyShift(multipliers) => {
                // The upper half of the product is well mixed; scaling it by `columns` avoids a division, and works for
                // any count.
                let high = key.0.wrapping_mul(multipliers[row]) >> 32;
                ((high * u64::from(columns)) >> 32) as usize
            }
            Self::Checksums => (checksum(row, key) % u64::from(columns)) as usize,
        }
    }
}

/// The generator SplitMix64 (Steele, Lea and Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn checksum(row: usize, key: Key) -> u64 {
    let bytes = key.0.to_be_bytes();
    match row {
        0 => crc32(&bytes).into(),
        1 => crc16(&bytes).into(),
        2 => internet_checksum(&bytes).into(),
        _ => key.0 >> 32,
    }
}

/// CRC-32 of Ethernet (polynomial 0x04c11db7, reflected).
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// CRC-16/ARC (polynomial 0x8005, reflected).
fn crc16(bytes: &[u8]) -> u16 {
    let step = |crc: u16, _| if crc & 1 == 1 { crc >> 1 ^ 0xa001 } else { crc >> 1 };
    bytes.iter().fold(0, |crc, &byte| (0..8).fold(crc ^ u16::from(byte), step))
}

/// The Internet checksum (RFC 1071).
fn internet_checksum(bytes: &[u8; 8]) -> u16 {
    let words = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_have_their_published_check_values() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc16(b"123456789"), 0xbb3d);
        // RFC 1071, section 3: the sum of this example is 0xddf2.
        assert_eq!(internet_checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn every_family_spreads_flows_over_the_columns() {
        for family in [AfqHash::MultiplyShift, AfqHash::Checksums] {
            let hashes = Hashes::new(family, 7, 4);
            for row in 0..4 {
                let mut used = vec![0u32; 256];
                for flow in 0u32..2_560 {
                    let hash = split_mix(&mut u64::from(flow)) as u32;
                    used[hashes.column(row, Key::of_five_tuple(hash, flow % 17, flow % 13), 256)] += 1;
                }
                let (least, most) = (used.iter().min(), used.iter().max());
                assert!(least > Some(&0) && most < Some(&40), "{family:?} row {row}: {least:?} to {most:?}");
            }
        }
    }

    #[test]
    fn two_rows_seldom_agree_on_who_collides() {
        let hashes = Hashes::new(AfqHash::MultiplyShift, 1, 2);
        let place = |flow: u32, row| {
            hashes.column(row, Key::of_five_tuple(split_mix(&mut u64::from(flow)) as u32, flow, 1), 1 << 10)
        };
        let (mut in_one, mut in_both) = (0, 0);
        for flow in 1..1 << 14 {
            let same = [0, 1].map(|row| place(0, row) == place(flow, row));
            in_one += u32::from(same[0] || same[1]);
            in_both += u32::from(same[0] && same[1]);
        }
        assert!(in_one > 10 && in_both <= 1, "{in_one} {in_both}");
    }
}
