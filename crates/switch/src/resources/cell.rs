//! The width of values in registers.

use hitless_core::wire::{PortId, Time};

/// A type that can be an entry of a register array, and its width in a switch.
///
/// Use [`crate::register_cell`] for structs; it cannot forget a field.
pub trait RegisterCell: Copy {
    /// Width of the value in bits.
    const BITS: u32;
    /// Width of each field, by name; empty for types without fields.
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
    // The width of a port number on a Tofino (p4c, device.h); and the simulated clock.
    PortId: 9,
    Time: u64::BITS,
}

impl<T: RegisterCell> RegisterCell for Option<T> {
    const BITS: u32 = T::BITS + 1;
}

/// Implements [`RegisterCell`] for a struct with all its fields: `register_cell!(Tags { assigned: u32, next: u32 })`.
#[macro_export]
macro_rules! register_cell {
    ($cell:ident { $($field:ident: $kind:ty),+ $(,)? }) => {
        impl $crate::RegisterCell for $cell {
            const BITS: u32 = 0 $(+ <$kind as $crate::RegisterCell>::BITS)+;
            const FIELDS: &'static [(&'static str, u32)] =
                &[$((stringify!($field), <$kind as $crate::RegisterCell>::BITS)),+];
        }

        // Fails to compile if a field is missing or has another type.
        const _: fn($cell) = |cell| {
            let $cell { $($field),+ } = cell;
            $(let _: $kind = $field;)+
        };
    };
}
