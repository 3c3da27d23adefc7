//! Implements the second trait from the names of a type's fields.

/// Implements [`State`](crate::state::State) for a type. Each field is of one of three sorts: `values` are read anew,
/// `parts` are states themselves, and `configured` fields keep the value they have from the scenario.
///
/// ```
/// use hitless_core::state;
///
/// struct Meter { limit: u64, count: u64 }
/// struct Port { rate: u64, waiting: Vec<u32>, meters: Vec<Meter> }
/// enum Lane { Metered(Meter), Free }
///
/// state!(Meter { values: count; configured: limit });
/// state!(Port { values: waiting; parts: meters; configured: rate });
/// state!(enum Lane { Metered(meter), Free });
/// ```
///
/// The variant of an enumeration is fixed at construction; its fields are states. Fields are written in the order in
/// which they are named here. Type parameters are declared in front of the type: `state!(where [T: Value] Pair<T> {
/// values: first, second })`.
#[macro_export]
macro_rules! state {
    (enum $type:ty { $($variant:ident $(($($place:ident),+))?),+ $(,)? }) => {
        impl $crate::state::State for $type {
            #[allow(unused_assignments, reason = "the last variant counts on for nobody")]
            fn save(&self, out: &mut $crate::state::Writer) {
                let mut tag = 0_u8;
                $(
                    if let Self::$variant $(($($place),+))? = self {
                        out.value(&tag);
                        $($($crate::state::State::save($place, out);)+)?
                    }
                    tag += 1;
                )+
                // A variant that is not named does not compile.
                match self {
                    $(Self::$variant { .. } => {})+
                }
            }

            #[allow(unused_assignments, reason = "the last variant counts on for nobody")]
            fn load(&mut self, from: &mut $crate::state::Reader<'_>) -> Result<(), $crate::state::Damaged> {
                let found: u8 = from.value()?;
                let mut tag = 0_u8;
                $(
                    if let Self::$variant $(($($place),+))? = self && found == tag {
                        $($($crate::state::State::load($place, from)?;)+)?
                        return Ok(());
                    }
                    tag += 1;
                )+
                Err(from.damaged(concat!("the ", stringify!($type), " that was built")))
            }
        }
    };
    (@save values, $field:ident, $out:ident) => { $out.value($field) };
    (@save parts, $field:ident, $out:ident) => { $crate::state::State::save($field, $out) };
    (@save configured, $field:ident, $out:ident) => {{ let _ = ($field, &$out); }};
    (@load values, $field:ident, $from:ident) => { *$field = $from.value()? };
    (@load parts, $field:ident, $from:ident) => { $crate::state::State::load($field, $from)? };
    (@load configured, $field:ident, $from:ident) => {{ let _ = ($field, &$from); }};
    ($(where [$($generics:tt)*])? $type:ty { $($sort:ident: $($field:ident),+ $(,)?);+ $(;)? }) => {
        impl $(<$($generics)*>)? $crate::state::State for $type {
            fn save(&self, out: &mut $crate::state::Writer) {
                let Self { $($($field),+),+ } = self;
                $($($crate::state!(@save $sort, $field, out);)+)+
            }

            fn load(&mut self, from: &mut $crate::state::Reader<'_>) -> Result<(), $crate::state::Damaged> {
                let Self { $($($field),+),+ } = self;
                $($($crate::state!(@load $sort, $field, from);)+)+
                Ok(())
            }
        }
    };
}
