//! Names that live as long as the program: of registers, rules and reasons.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::reader::{Damaged, Reader};
use crate::traits::Value;
use crate::writer::Writer;

/// Names that were read, each once however often it comes.
static READ: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
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
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(name.as_str()) {
            return Ok(known);
        }
        let name: &'static str = Box::leak(name.into_boxed_str());
        read.insert(name);
        Ok(name)
    }
}
