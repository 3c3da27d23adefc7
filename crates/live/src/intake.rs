//! The frames that a port takes into the fabric.
//!
//! A kernel path (docs/how-to/real-interfaces.md, "Fail open") can forward the others: packet sockets receive a copy of
//! every frame, and a frame must not cross twice.

use std::str::FromStr;

use hitless_core::wire::frame::EtherType;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intake {
    #[default]
    All,
    /// Frames of the format of links between switches, by their EtherType.
    Link,
    Nothing,
}

impl Intake {
    pub fn takes(self, frame: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::Link => frame.get(12..14) == Some(&EtherType::EXPERIMENTAL_1.0.to_be_bytes()),
            Self::Nothing => false,
        }
    }
}

impl FromStr for Intake {
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
