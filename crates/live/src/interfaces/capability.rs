use std::fmt;
use std::fs;

/// A capability that a port needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Opens packet sockets and AF_XDP sockets.
    NetRaw,
    /// Makes an interface promiscuous, switches offloads, sets the MTU, attaches XDP programs.
    NetAdmin,
    /// Loads an XDP program.
    Bpf,
}

impl Capability {
    pub const OF_PACKET_SOCKETS: [Self; 2] = [Self::NetRaw, Self::NetAdmin];
    pub const OF_XDP: [Self; 3] = [Self::NetRaw, Self::NetAdmin, Self::Bpf];

    /// Its number in linux/capability.h.
    const fn bit(self) -> u32 {
        match self {
            Self::NetAdmin => 12,
            Self::NetRaw => 13,
            Self::Bpf => 39,
        }
    }

    pub const fn purpose(self) -> &'static str {
        match self {
            Self::NetRaw => "to send and receive frames",
            Self::NetAdmin => "to receive frames for every address and to switch offloads off",
            Self::Bpf => "to load the program that hands frames to AF_XDP",
        }
    }

    /// Returns the capabilities among `needed` that this process lacks; empty if that is unknown.
    pub fn lacking(needed: &[Self]) -> Vec<Self> {
        let Some(effective) = effective() else { return Vec::new() };
        needed.iter().copied().filter(|capability| effective >> capability.bit() & 1 == 0).collect()
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NetRaw => "CAP_NET_RAW",
            Self::NetAdmin => "CAP_NET_ADMIN",
            Self::Bpf => "CAP_BPF",
        })
    }
}

fn effective() -> Option<u64> {
    // Read the thread's status, not the process's: the first thread can still have capabilities that this one gave up.
    mask_of(&fs::read_to_string("/proc/thread-self/status").ok()?)
}

fn mask_of(status: &str) -> Option<u64> {
    let digits = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(digits.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_is_read_from_the_status() {
        assert_eq!(mask_of("Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t000001ffffffffff\n"), Some((1 << 41) - 1));
        assert_eq!(mask_of("CapEff:\t0000000000003000\n"), Some(1 << 12 | 1 << 13));
        assert_eq!(mask_of("CapEff: what"), None);
        assert_eq!(mask_of(""), None);
    }
}
