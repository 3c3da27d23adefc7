//! The frames that a port takes into the fabric.
//!
//! A kernel path (docs/how-to/real-interfaces.md, "Fail open") can forward the others: packet sockets receive a copy of
//! every frame, and a frame must not cross twice.

use std::str::FromStr;

use hitless_core::wire::frame::EtherType;

use crate::interfaces::MonotonicTime;

/// Frames of some kinds that the kernel receives in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intake {
    pub kinds: Kinds,
    pub from: MonotonicTime,
    pub until: MonotonicTime,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    #[default]
    All,
    /// Frames of the format of links between switches, by their EtherType.
    Link,
    Nothing,
}

impl Default for Intake {
    fn default() -> Self {
        Self::always(Kinds::All)
    }
}

impl Intake {
    pub const fn always(kinds: Kinds) -> Self {
        Self { kinds, from: MonotonicTime(0), until: MonotonicTime(u64::MAX) }
    }

    pub fn takes(self, frame: &[u8], at: MonotonicTime) -> bool {
        let is_of_kind = match self.kinds {
            Kinds::All => true,
            Kinds::Link => frame.get(12..14) == Some(&EtherType::EXPERIMENTAL_1.0.to_be_bytes()),
            Kinds::Nothing => false,
        };
        is_of_kind && (self.from..=self.until).contains(&at)
    }
}

impl FromStr for Kinds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            "link" => Ok(Self::Link),
            "nothing" => Ok(Self::Nothing),
            _ => Err(format!("'{text}' is no intake of a port: all, link or nothing")),
        }
    }
}
