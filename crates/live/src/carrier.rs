//! Passes carrier changes of interfaces on to the fabric.
//!
//! An interface without carrier is a link that is down in both directions: frames that leave through it are lost and
//! counted there, and with `[recovery]` the switch detects the failure like that of any link. A returning carrier
//! brings the link up. Both are commands, so that a recording contains them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::interfaces::device::{Carrier, NetworkDevice};
use crate::interfaces::watch::{LinkChange, LinkWatch};

pub trait CarrierSource: Send {
    /// Passes on the changes since the last call, without waiting.
    fn changes(&mut self, take: &mut dyn FnMut(LinkChange)) -> io::Result<()>;

    /// Returns the present carrier of an interface; `None` if the interface does not exist.
    fn look(&self, name: &str) -> Option<Carrier>;

    /// Returns a descriptor that becomes readable after a change.
    fn wakes(&self) -> Option<BorrowedFd<'_>>;
}

impl CarrierSource for LinkWatch {
    fn changes(&mut self, take: &mut dyn FnMut(LinkChange)) -> io::Result<()> {
        Self::changes(self, take)
    }

    fn look(&self, name: &str) -> Option<Carrier> {
        NetworkDevice::of_ethernet(name).ok()?.carrier().ok()
    }

    fn wakes(&self) -> Option<BorrowedFd<'_>> {
        Some(self.as_fd())
    }
}

/// Interval between two reads in a loop that never sleeps.
const ASK_EVERY_NS: u64 = 1_000_000;

pub(crate) struct Carriers {
    source: Box<dyn CarrierSource>,
    asked_at_ns: u64,
}

impl Carriers {
    pub fn new(source: impl CarrierSource + 'static) -> Self {
        Self { source: Box::new(source), asked_at_ns: 0 }
    }

    pub fn wakes(&self) -> Option<BorrowedFd<'_>> {
        self.source.wakes()
    }

    pub fn look_at<'a>(&self, ports: impl Iterator<Item = &'a str>) -> Vec<(String, bool)> {
        let look = |name: &'a str| (name.to_owned(), self.source.look(name) == Some(Carrier::Present));
        ports.map(look).collect()
    }

    /// Returns interfaces with a changed carrier, unless the last read was too recent.
    pub fn changes<'a>(
        &mut self,
        now_ns: u64,
        ports: impl Iterator<Item = &'a str>,
    ) -> io::Result<Vec<(String, bool)>> {
        if now_ns.saturating_sub(self.asked_at_ns) < ASK_EVERY_NS {
            return Ok(Vec::new());
        }
        self.asked_at_ns = now_ns;
        let (mut found, mut has_missed) = (Vec::new(), false);
        self.source.changes(&mut |change| match change {
            LinkChange::Present { name, carrier, .. } => found.push((name, carrier == Carrier::Present)),
            // The next use of a removed interface fails, so nothing needs to be done here.
            LinkChange::Gone { .. } => {}
            LinkChange::Missed => has_missed = true,
        })?;
        Ok(if has_missed { self.look_at(ports) } else { found })
    }
}
