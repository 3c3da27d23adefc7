//! How many bits of a register a value takes.

use hitless_core::wire::{PortId, Time};

/// What an entry of a register array can be, and its bits in a switch.
///
/// A struct gets it by [`crate::register_cell`], which cannot forget a field.
pub trait RegisterCell: Copy {
    /// All of it.
    const BITS: u32;
    /// Its fields by name, if it has any.
    const FIELDS: &'static [(&'static str, u32)] = &[];
}

macro_rules! bits {
    ($($kind:ty: $bits:expr),+ $(,)?) => {
        $(impl RegisterCell for $kind {
            const BITS: u32 = $bits;
        })+
    };
}

bits! {
    bool: 1,
    u8: 8,
    u16: 16,
    u32: 32,
    u64: 64,
    i64: 64,
    // A port's number as a Tofino has it (p4c, device.h), and the simulated clock.
    PortId: 9,
    Time: u64::BITS,
}

impl<T: RegisterCell> RegisterCell for Option<T> {
    const BITS: u32 = T::BITS + 1;
}

/// Makes a struct a [`RegisterCell`] of all its fields: `register_cell!(Tags { assigned: u32, next: u32 })`.
#[macro_export]
macro_rules! register_cell {
    ($cell:ident { $($field:ident: $kind:ty),+ $(,)? }) => {
        impl $crate::RegisterCell for $cell {
            const BITS: u32 = 0 $(+ <$kind as $crate::RegisterCell>::BITS)+;
            const FIELDS: &'static [(&'static str, u32)] =
                &[$((stringify!($field), <$kind as $crate::RegisterCell>::BITS)),+];
        }

        // Does not compile when a field is missing, or has another type.
        const _: fn($cell) = |cell| {
            let $cell { $($field),+ } = cell;
            $(let _: $kind = $field;)+
        };
    };
}
