use std::str::FromStr;

use crate::interfaces::error::OpenError;
use crate::interfaces::interface::Interface;
use crate::interfaces::packet::{PacketInterface, RING_FRAMES};
use crate::interfaces::xdp::{XdpInterface, XdpMode};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preference {
    /// Packet sockets with memory-mapped rings: any interface.
    #[default]
    Packet,
    /// AF_XDP in the fastest available mode.
    FastestXdp,
    Xdp(XdpMode),
    /// AF_XDP in the driver, without a copy or with one; packet sockets if the driver does not support it. AF_XDP in
    /// the stack is not tried, because it is no faster than packet sockets.
    Fastest,
}

impl Preference {
    /// All preferences, with their names on a command line and in a file.
    pub const NAMED: [(&'static str, Self); 6] = [
        ("packet", Self::Packet),
        ("xdp", Self::FastestXdp),
        ("xdp-zero-copy", Self::Xdp(XdpMode::ZeroCopy)),
        ("xdp-copy", Self::Xdp(XdpMode::Copy)),
        ("xdp-generic", Self::Xdp(XdpMode::Generic)),
        ("auto", Self::Fastest),
    ];
}

impl FromStr for Preference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMED.iter().find(|(name, _)| *name == text);
        found.map(|(_, preference)| *preference).ok_or_else(|| {
            let names = Self::NAMED.map(|(name, _)| name).join(", ");
            format!("there is no way {text:?} for frames to cross to the kernel; it is one of {names}")
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub preference: Preference,
    /// Number of frames in each ring, rounded up to a power of two.
    pub ring_frames: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { preference: Preference::default(), ring_frames: RING_FRAMES }
    }
}

/// Opens the interface called `name` in the network namespace of the calling thread. The port stays in that namespace
/// even if the thread leaves it.
pub fn open(name: &str, options: Options) -> Result<Box<dyn Interface + Send>, OpenError> {
    let packet = || Ok(Box::new(PacketInterface::open(name, options.ring_frames)?) as Box<dyn Interface + Send>);
    let first_of = |modes: &[XdpMode]| -> Result<Box<dyn Interface + Send>, OpenError> {
        Ok(Box::new(XdpInterface::open_first(name, modes, options.ring_frames)?))
    };
    match options.preference {
        Preference::Packet => packet(),
        Preference::FastestXdp => first_of(&XdpMode::ALL),
        Preference::Xdp(mode) => first_of(&[mode]),
        Preference::Fastest => first_of(&[XdpMode::ZeroCopy, XdpMode::Copy]).or_else(|_| packet()),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = open("hl-none", Options::default()).err().expect("there is no such interface");
        assert_eq!(
            error.to_string(),
            "there is no interface \"hl-none\" in this network namespace (`ip link` lists them)"
        );
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn every_name_is_read_and_others_are_refused_with_a_list() {
        for (name, preference) in Preference::NAMED {
            assert_eq!(name.parse(), Ok(preference));
        }
        let error = "dpdk".parse::<Preference>().expect_err("no such mode");
        assert!(error.contains("one of packet, xdp, xdp-zero-copy"), "{error}");
    }

    #[test]
    fn a_name_that_no_interface_can_have_is_refused() {
        for name in ["", "a/b", "much-too-long-for-linux", "nul\0"] {
            let error = open(name, Options::default()).err().expect("no such name");
            assert!(matches!(error, OpenError::Refused { .. }), "{name:?}: {error}");
        }
    }

    #[test]
    fn loopback_is_refused() {
        let error = open("lo", Options::default()).err().expect("not Ethernet");
        assert!(matches!(error, OpenError::NotEthernet { .. }), "{error}");
    }
}
