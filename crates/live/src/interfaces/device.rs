//! The network device under a port: its existence, MTU and carrier (netdevice(7)).

use std::io;

use crate::interfaces::error::OpenError;
use crate::interfaces::sys::ethtool::receive_queues;
use crate::interfaces::sys::network::Control;

/// An Ethernet device of the network namespace of its lookup, identified by index: a new device of the same name is a
/// different one.
#[derive(Debug)]
pub struct NetworkDevice {
    control: Control,
    name: String,
    index: libc::c_int,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Its administrator has switched it off (`ip link set ... down`).
    Off,
    /// It is on, but the other end is missing.
    Lost,
    Present,
}

impl Carrier {
    pub(crate) fn of_flags(flags: libc::c_int) -> Self {
        match (flags & libc::IFF_UP != 0, flags & libc::IFF_RUNNING != 0) {
            (false, _) => Self::Off,
            (true, false) => Self::Lost,
            (true, true) => Self::Present,
        }
    }
}

impl NetworkDevice {
    /// Finds the interface called `name` in the network namespace of the calling thread.
    pub fn of_ethernet(name: &str) -> Result<Self, OpenError> {
        let control = Control::open().map_err(|error| OpenError::asking(name, "anything", error))?;
        let index = control.index(name).map_err(|error| OpenError::looking_up(name, error))?;
        let kind = control.hardware_kind(name).map_err(|error| OpenError::asking(name, "its kind", error))?;
        if kind != libc::ARPHRD_ETHER {
            return Err(OpenError::NotEthernet { name: name.to_owned(), kind });
        }
        Ok(Self { control, name: name.to_owned(), index })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn index(&self) -> libc::c_int {
        self.index
    }

    /// Reads its MTU: the maximum number of bytes after addresses and type.
    pub fn mtu_bytes(&self) -> io::Result<usize> {
        self.control.mtu(&self.name)
    }

    /// Sets its MTU. A port must be opened afterwards.
    pub fn set_mtu_bytes(&self, mtu_bytes: usize) -> io::Result<()> {
        self.control.set_mtu(&self.name, mtu_bytes).map_err(|error| self.error("its MTU cannot be set", &error))
    }

    pub fn address(&self) -> io::Result<[u8; 6]> {
        self.control.address(&self.name)
    }

    /// Switches it on or off.
    pub fn set_up(&self, up: bool) -> io::Result<()> {
        let what = if up { "it cannot be switched on" } else { "it cannot be switched off" };
        self.control.set_up(&self.name, up).map_err(|error| self.error(what, &error))
    }

    /// Reads whether frames can cross now.
    pub fn carrier(&self) -> io::Result<Carrier> {
        let flags = self.control.flags(&self.name)?;
        Ok(Carrier::of_flags(flags))
    }

    /// Reads its number of receive queues; 0 if the driver does not count them.
    pub fn receive_queues(&self) -> io::Result<u32> {
        receive_queues(&self.control, &self.name)
    }

    /// Checks that it still exists.
    ///
    /// # Errors
    /// `NotFound` if it was removed, renamed, or moved to another namespace.
    pub fn still_there(&self) -> io::Result<()> {
        if self.control.index(&self.name).is_ok_and(|index| index == self.index) {
            return Ok(());
        }
        let text = format!("interface {} is gone: it was removed, renamed, or moved to another namespace", self.name);
        Err(io::Error::new(io::ErrorKind::NotFound, text))
    }

    /// Switches to the interface that has the name now.
    ///
    /// # Errors
    /// `NotFound` if no interface has the name, `InvalidInput` if it is not Ethernet.
    pub(crate) fn rejoin(&mut self) -> io::Result<()> {
        let missing = |_| io::Error::new(io::ErrorKind::NotFound, format!("there is no interface {}", self.name));
        let index = self.control.index(&self.name).map_err(missing)?;
        if self.control.hardware_kind(&self.name).map_err(missing)? != libc::ARPHRD_ETHER {
            let text = format!("the interface that is called {} now carries no Ethernet frames", self.name);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.index = index;
        Ok(())
    }

    /// Adds the interface and the failed operation to `error`.
    pub fn error(&self, what: &str, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("interface {}: {what}: {error}", self.name))
    }

    /// Interprets `error` of a socket: an interface that is down is a port without carrier, but a removed one is an
    /// error.
    pub(crate) fn judge(&self, error: io::Error, what: &str) -> io::Result<()> {
        match error.raw_os_error() {
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => self.still_there(),
            _ => Err(self.error(what, &error)),
        }
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }
}

/// Number of empty receive rings in a row, since the last frame or the last check of the socket's error.
#[derive(Debug, Default)]
pub(crate) struct EmptyLooks(u32);

impl EmptyLooks {
    /// Number of empty looks before a check: about one system call per 100 us in a loop that does not sleep. A sleeping
    /// loop is woken by the error, and does not sleep again until the error was read.
    const BETWEEN_CHECKS: u32 = 4096;

    /// Counts a look; returns whether the socket must be checked for an error now.
    pub fn count(&mut self, is_empty: bool) -> bool {
        self.0 = if is_empty { self.0 + 1 } else { 0 };
        let is_due = self.0 >= Self::BETWEEN_CHECKS;
        if is_due {
            self.0 = 0;
        }
        is_due
    }
}
