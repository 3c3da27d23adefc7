//! Carrier changes of interfaces, as the fabric is told of them.
//!
//! An interface without carrier is a link that is down, both ways, from then on: what leaves by it is lost on the link
//! and counted there, and with `[recovery]` its switch finds out as of any failed link. Carrier that comes back brings
//! the link up. Both are commands, so that a recording has them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::interfaces::link::{Carrier, Link};
use crate::interfaces::watch::{LinkChange, LinkWatch};

/// Who knows of carriers.
pub trait CarrierSource: Send {
    /// What has changed since the last call; does not wait.
    ///
    /// # Errors
    /// When the kernel does not tell any more.
    fn changes(&mut self, take: &mut dyn FnMut(LinkChange)) -> io::Result<()>;

    /// How an interface is now; none when it is not there.
    fn look(&self, name: &str) -> Option<Carrier>;

    /// Readable when something has changed.
    fn wakes(&self) -> Option<BorrowedFd<'_>>;
}

impl CarrierSource for LinkWatch {
    fn changes(&mut self, take: &mut dyn FnMut(LinkChange)) -> io::Result<()> {
        Self::changes(self, take)
    }

    fn look(&self, name: &str) -> Option<Carrier> {
        Link::of_ethernet(name).ok()?.carrier().ok()
    }

    fn wakes(&self) -> Option<BorrowedFd<'_>> {
        Some(self.as_fd())
    }
}

/// How often a loop that never sleeps asks.
const ASK_EVERY_NS: u64 = 1_000_000;

/// A source, and when it was asked last.
pub(crate) struct Carriers {
    source: Box<dyn CarrierSource>,
    asked_at_ns: u64,
}

impl Carriers {
    /// Asks `source` from now on.
    pub fn new(source: impl CarrierSource + 'static) -> Self {
        Self { source: Box::new(source), asked_at_ns: 0 }
    }

    pub fn wakes(&self) -> Option<BorrowedFd<'_>> {
        self.source.wakes()
    }

    /// Which of `ports` have carrier, and which have none.
    pub fn look_at<'a>(&self, ports: impl Iterator<Item = &'a str>) -> Vec<(String, bool)> {
        let look = |name: &'a str| (name.to_owned(), self.source.look(name) == Some(Carrier::Present));
        ports.map(look).collect()
    }

    /// What has changed, if it is time to ask: interfaces that have carrier now, or have none.
    ///
    /// # Errors
    /// When the kernel does not tell any more.
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
            // What is gone shows when it is used.
            LinkChange::Gone { .. } => {}
            LinkChange::Missed => has_missed = true,
        })?;
        Ok(if has_missed { self.look_at(ports) } else { found })
    }
}
