use std::error::Error;
use std::fmt;
use std::io;

use crate::interfaces::capability::Capability;

/// The reason why a port could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The interface does not exist in this network namespace.
    Missing { name: String },
    NotEthernet {
        name: String,
        /// An `ARPHRD_` number of linux/if_arp.h.
        kind: u16,
    },
    Forbidden {
        name: String,
        /// Missing capabilities; empty if the process seems to have all.
        lacking: Vec<Capability>,
        what: String,
    },
    /// The kernel refused an operation for another reason.
    Refused { name: String, what: String, error: io::Error },
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

/// Writes advice about missing capabilities.
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
}
