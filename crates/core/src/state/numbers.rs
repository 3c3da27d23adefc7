//! Numbers, booleans, text, and types that hold one value of another type.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::state::bytes::{Damaged, Reader, State, Value, Writer};

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Value for $number {
            fn write(&self, out: &mut Writer) {
                out.bytes(&self.to_le_bytes());
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
                let mut bytes = [0; size_of::<Self>()];
                bytes.copy_from_slice(from.bytes(size_of::<Self>())?);
                Ok(Self::from_le_bytes(bytes))
            }
        }
    )*};
}

// Floating-point numbers are saved bit by bit, so that results are identical.
numbers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);

impl Value for usize {
    fn write(&self, out: &mut Writer) {
        (*self as u64).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Self::try_from(u64::read(from)?).map_err(|_| from.damaged("a number that fits this machine"))
    }
}

impl Value for bool {
    fn write(&self, out: &mut Writer) {
        u8::from(*self).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(from.damaged("a truth value")),
        }
    }
}

impl Value for () {
    fn write(&self, _out: &mut Writer) {}

    fn read(_from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(())
    }
}

impl Value for NonZeroU32 {
    fn write(&self, out: &mut Writer) {
        self.get().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Self::new(u32::read(from)?).ok_or(from.damaged("a number above zero"))
    }
}

impl Value for String {
    fn write(&self, out: &mut Writer) {
        self.len().write(out);
        out.bytes(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let count = from.count()?;
        let bytes = from.bytes(count)?.to_vec();
        Self::from_utf8(bytes).map_err(|_| from.damaged("text"))
    }
}

impl<T: Value> Value for Box<T> {
    fn write(&self, out: &mut Writer) {
        (**self).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(Self::new(T::read(from)?))
    }
}

impl<T: Value> Value for Reverse<T> {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        T::read(from).map(Reverse)
    }
}

impl<T: Value> Value for Range<T> {
    fn write(&self, out: &mut Writer) {
        self.start.write(out);
        self.end.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(T::read(from)?..T::read(from)?)
    }
}

impl<T: Value> Value for Option<T> {
    fn write(&self, out: &mut Writer) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        if bool::read(from)? { T::read(from).map(Some) } else { Ok(None) }
    }
}

impl<T: State + ?Sized> State for Box<T> {
    fn save(&self, out: &mut Writer) {
        (**self).save(out);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        (**self).load(from)
    }
}

/// Whether the option is `Some` is fixed at construction.
impl<T: State> State for Option<T> {
    fn save(&self, out: &mut Writer) {
        self.is_some().write(out);
        if let Some(state) = self {
            state.save(out);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        match (bool::read(from)?, self) {
            (true, Some(state)) => state.load(from),
            (false, None) => Ok(()),
            _ => Err(from.damaged("what was built, and nothing else")),
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        #[allow(non_snake_case, reason = "the names of types are those of values")]
        impl<$($name: Value),*> Value for ($($name,)*) {
            fn write(&self, out: &mut Writer) {
                let ($($name,)*) = self;
                $($name.write(out);)*
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
                Ok(($($name::read(from)?,)*))
            }
        }
    )*};
}

tuples!((A)(A B)(A B C)(A B C D)(A B C D E)(A B C D E F));

/// Interned names, each stored once.
static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
const LENGTH_MAX: usize = 1_000;

impl Value for &'static str {
    fn write(&self, out: &mut Writer) {
        self.len().write(out);
        out.bytes(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let name = String::read(from)?;
        if name.len() > LENGTH_MAX {
            return Err(from.damaged("a name"));
        }
        Ok(kept(&name))
    }
}

/// Interns a text: it lives as long as the program.
pub fn kept(text: &str) -> &'static str {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let text: &'static str = text.to_owned().leak();
    kept.insert(text);
    text
}
