//! Names that live as long as the program: of registers, rules and reasons.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::state::reader::{Damaged, Reader};
use crate::state::traits::Value;
use crate::state::writer::Writer;

/// Names that were kept, each once however often it comes.
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

/// A text for as long as the program runs.
pub fn kept(text: &str) -> &'static str {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let text: &'static str = text.to_owned().leak();
    kept.insert(text);
    text
}
