/// A share between 0 and 1 in millionths, so that 0.55 of 100 paths are 55 and not 56.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    pub const ALL: Share = Share(1_000_000);

    /// The nearest share; `None` outside 0 to 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then(|| Self((share * 1e6).round() as u32))
    }

    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1e6
    }

    /// This share of `whole`, rounded up.
    pub fn of_rounded_up(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.0)).div_ceil(1_000_000) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_count_is_rounded_up_from_its_exact_value() {
        for (share, whole, expected) in [(0.75, 192, 144), (0.55, 100, 55), (0.5, 5, 3), (0.0, 7, 0), (1.0, 7, 7)] {
            assert_eq!(Share::new(share).unwrap().of_rounded_up(whole), expected, "{share} of {whole}");
        }
        assert_eq!(Share::new(1.5), None);
        assert_eq!(Share::new(f64::NAN), None);
    }
}
