//! Weights of flows.

/// Weights by class: the share of the line relative to a flow of weight 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassWeights(pub [u16; 8]);

impl ClassWeights {
    /// The same weight for all classes.
    pub const EQUAL: Self = Self([1; 8]);

    #[inline]
    pub(super) fn of(&self, class: u8) -> u32 {
        u32::from(self.0[usize::from(class & 7)]).max(1)
    }
}
