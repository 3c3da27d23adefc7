//! Opening a port, and why that fails.

use std::error::Error;
use std::fmt;
use std::io;
use std::str::FromStr;

use crate::capability::Capability;
use crate::interface::Interface;
use crate::packet::{PacketInterface, RING_FRAMES};
use crate::xdp::{XdpInterface, XdpMode};

/// How frames are to cross to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preference {
    /// Packet sockets with memory-mapped rings: any interface.
    #[default]
    Packet,
    /// AF_XDP in the fastest mode that can be had.
    FastestXdp,
    /// AF_XDP in exactly this mode.
    Xdp(XdpMode),
    /// AF_XDP in the driver, without a copy or with one; packet sockets where the driver cannot. AF_XDP in the stack is not
    /// tried: it is no faster than packet sockets.
    Fastest,
}

impl Preference {
    /// All of them, with the names that they have on a command line and in a file.
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
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        let found = Self::NAMED.iter().find(|(name, _)| *name == text);
        found.map(|(_, preference)| *preference).ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

/// A name that is none of [`Preference::NAMED`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMode(pub String);

impl fmt::Display for UnknownMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Preference::NAMED.map(|(name, _)| name).join(", ");
        write!(formatter, "there is no way {:?} for frames to cross to the kernel; it is one of {names}", self.0)
    }
}

impl Error for UnknownMode {}

/// What a port is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How frames are to cross to the kernel.
    pub preference: Preference,
    /// Frames that each ring holds, rounded up to a power of two.
    pub ring_frames: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { preference: Preference::default(), ring_frames: RING_FRAMES }
    }
}

/// Opens the interface called `name` in the network namespace of the calling thread. The port stays in that namespace
/// whatever the thread does later.
///
/// # Errors
/// [`OpenError`]: exactly what was asked for could not be had.
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

/// Why a port could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// There is no such interface in this network namespace.
    Missing {
        /// The name that was asked for.
        name: String,
    },
    /// The interface carries no Ethernet frames.
    NotEthernet {
        /// Its name.
        name: String,
        /// Its kind: an `ARPHRD_` number of linux/if_arp.h.
        kind: u16,
    },
    /// The process may not do what is needed.
    Forbidden {
        /// The name that was asked for.
        name: String,
        /// What it lacks; empty when it seems to have all it needs.
        lacking: Vec<Capability>,
        /// What was refused.
        what: String,
    },
    /// The kernel refused something else.
    Refused {
        /// The name that was asked for.
        name: String,
        /// What was refused.
        what: String,
        /// What the kernel said.
        error: io::Error,
    },
}

impl OpenError {
    pub(crate) fn looking_up(name: &str, error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::ENODEV | libc::ENXIO) => Self::Missing { name: name.to_owned() },
            None => Self::refused(name, "being looked up: no interface can have this name", error),
            _ => Self::refused(name, "being looked up", error),
        }
    }

    pub(crate) fn asking(name: &str, what: &str, error: io::Error) -> Self {
        Self::refused(name, &format!("being asked for {what}"), error)
    }

    pub(crate) fn packet_socket(name: &str, what: &str, error: io::Error) -> Self {
        Self::of_capabilities(name, &format!("{what} of a packet socket"), error, &Capability::OF_PACKET_SOCKETS)
    }

    pub(crate) fn of_capabilities(name: &str, what: &str, error: io::Error, needed: &[Capability]) -> Self {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return Self::refused(name, what, error);
        }
        let lacking = Capability::lacking(needed);
        Self::Forbidden { name: name.to_owned(), lacking, what: what.to_owned() }
    }

    fn refused(name: &str, what: &str, error: io::Error) -> Self {
        Self::Refused { name: name.to_owned(), what: what.to_owned(), error }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name } => {
                write!(formatter, "there is no interface {name:?} in this network namespace (`ip link` lists them)")
            }
            Self::NotEthernet { name, kind } => {
                write!(
                    formatter,
                    "interface {name} carries no Ethernet frames (it is of kind {kind} of linux/if_arp.h)"
                )
            }
            Self::Forbidden { name, lacking, what } => {
                write!(formatter, "interface {name}: {what} was not permitted. ")?;
                write_hint(formatter, lacking)
            }
            Self::Refused { name, what, error } => write!(formatter, "interface {name}: {what} failed: {error}"),
        }
    }
}

impl Error for OpenError {}

impl From<OpenError> for io::Error {
    fn from(error: OpenError) -> Self {
        let kind = match &error {
            OpenError::Missing { .. } => io::ErrorKind::NotFound,
            OpenError::NotEthernet { .. } => io::ErrorKind::InvalidInput,
            OpenError::Forbidden { .. } => io::ErrorKind::PermissionDenied,
            OpenError::Refused { error, .. } => error.kind(),
        };
        Self::new(kind, error)
    }
}

/// What to do about capabilities that are lacking.
fn write_hint(formatter: &mut fmt::Formatter<'_>, lacking: &[Capability]) -> fmt::Result {
    if lacking.is_empty() {
        return formatter.write_str(
            "The process has the capabilities that are needed, so a security module or the container forbids it",
        );
    }
    let reasons: Vec<String> = lacking.iter().map(|one| format!("{one} ({})", one.purpose())).collect();
    let names: Vec<String> = lacking.iter().map(|one| one.to_string().to_lowercase()).collect();
    write!(
        formatter,
        "This process lacks {}. Run it with sudo, or give the program that runs it (for a script, its interpreter) the \
         right to it: sudo setcap {}+ep PROGRAM",
        reasons.join(" and "),
        names.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_capability_is_named_with_its_purpose_and_a_remedy() {
        let lacking = vec![Capability::NetRaw, Capability::NetAdmin];
        let error = OpenError::Forbidden { name: "eth0".into(), lacking, what: "a receive ring".into() };
        let text = error.to_string();
        assert!(text.contains("lacks CAP_NET_RAW (to send and receive frames) and CAP_NET_ADMIN"), "{text}");
        assert!(text.contains("sudo setcap cap_net_raw,cap_net_admin+ep"), "{text}");
    }

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
        assert!(error.to_string().contains("one of packet, xdp, xdp-zero-copy"), "{error}");
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
