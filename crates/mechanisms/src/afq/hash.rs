//! Hash functions of a sketch. "AFQ re-uses one of several hashes that are already computed by the switch" (section
//! 3.2): their input is the 5-tuple as a descriptor has it, a hash and the two addresses.

use hitless_core::wire::checksum::{CRC_32, ones_complement_sum};
use hitless_p4::hash::{CRC_16, random};

use super::settings::AfqHash;

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
                Self::MultiplyShift((0..rows).map(|_| random(&mut state) | 1).collect())
            }
            AfqHash::Checksums => Self::Checksums,
        }
    }

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

fn checksum(row: usize, key: Key) -> u64 {
    let bytes = key.0.to_be_bytes();
    match row {
        0 => CRC_32.checksum(&bytes).into(),
        1 => CRC_16.checksum(&bytes).into(),
        2 => (!ones_complement_sum(&bytes)).into(),
        _ => key.0 >> 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_spreads_flows_over_the_columns() {
        for family in [AfqHash::MultiplyShift, AfqHash::Checksums] {
            let hashes = Hashes::new(family, 7, 4);
            for row in 0..4 {
                let mut used = vec![0u32; 256];
                for flow in 0u32..2_560 {
                    let hash = random(&mut u64::from(flow)) as u32;
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
            hashes.column(row, Key::of_five_tuple(random(&mut u64::from(flow)) as u32, flow, 1), 1 << 10)
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
