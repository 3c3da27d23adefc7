//! The link under a port: that it is there, its MTU, its carrier.

use std::io;

use crate::interfaces::error::OpenError;
use crate::interfaces::sys::ethtool::receive_queues;
use crate::interfaces::sys::network::Control;

/// An Ethernet interface of the network namespace in which it was looked up, by index: a new interface of the same name
/// is another one.
#[derive(Debug)]
pub struct Link {
    control: Control,
    name: String,
    index: libc::c_int,
}

/// Whether frames can cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// It is switched off by its administrator (`ip link set ... down`).
    Off,
    /// It is on, but there is nobody at the other end.
    Lost,
    /// Frames can cross.
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

impl Link {
    /// The interface called `name` in the network namespace of the calling thread.
    ///
    /// # Errors
    /// [`OpenError::Missing`] when there is none, [`OpenError::NotEthernet`].
    pub fn of_ethernet(name: &str) -> Result<Self, OpenError> {
        let control = Control::open().map_err(|error| OpenError::asking(name, "anything", error))?;
        let index = control.index(name).map_err(|error| OpenError::looking_up(name, error))?;
        let kind = control.hardware_kind(name).map_err(|error| OpenError::asking(name, "its kind", error))?;
        if kind != libc::ARPHRD_ETHER {
            return Err(OpenError::NotEthernet { name: name.to_owned(), kind });
        }
        Ok(Self { control, name: name.to_owned(), index })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its index.
    #[must_use]
    pub fn index(&self) -> libc::c_int {
        self.index
    }

    /// Its MTU: the most bytes of a frame behind addresses and type.
    ///
    /// # Errors
    /// When it is gone.
    pub fn mtu_bytes(&self) -> io::Result<usize> {
        self.control.mtu(&self.name)
    }

    /// Sets its MTU. A port must be opened after that.
    ///
    /// # Errors
    /// `PermissionDenied` without CAP_NET_ADMIN; `InvalidInput` when the driver cannot.
    pub fn set_mtu_bytes(&self, mtu_bytes: usize) -> io::Result<()> {
        self.control.set_mtu(&self.name, mtu_bytes).map_err(|error| self.error("its MTU cannot be set", &error))
    }

    /// Its station address.
    ///
    /// # Errors
    /// When it is gone.
    pub fn address(&self) -> io::Result<[u8; 6]> {
        self.control.address(&self.name)
    }

    /// Switches it on or off.
    ///
    /// # Errors
    /// `PermissionDenied` without CAP_NET_ADMIN.
    pub fn set_up(&self, up: bool) -> io::Result<()> {
        let what = if up { "it cannot be switched on" } else { "it cannot be switched off" };
        self.control.set_up(&self.name, up).map_err(|error| self.error(what, &error))
    }

    /// Whether frames can cross now.
    ///
    /// # Errors
    /// When it is gone.
    pub fn carrier(&self) -> io::Result<Carrier> {
        let flags = self.control.flags(&self.name)?;
        Ok(Carrier::of_flags(flags))
    }

    /// How many receive queues it has; 0 when the driver does not count them.
    ///
    /// # Errors
    /// When the driver knows nothing of queues.
    pub fn receive_queues(&self) -> io::Result<u32> {
        receive_queues(&self.control, &self.name)
    }

    /// Success when it has not gone.
    ///
    /// # Errors
    /// `NotFound` when it was removed, renamed, or moved to another namespace.
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

    /// `error`, with what could not be done on which interface.
    #[must_use]
    pub fn error(&self, what: &str, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("interface {}: {what}: {error}", self.name))
    }

    /// What `error` of a socket on it means: an interface that is down is a port without carrier, one that is gone is
    /// an error.
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

/// Empty looks at a receive ring since frames came, or the socket was asked for an error.
#[derive(Debug, Default)]
pub(crate) struct EmptyLooks(u32);

impl EmptyLooks {
    /// Those after which the socket is asked: a system call in 100 us or so of a loop that does not sleep. One that
    /// sleeps is woken by the error, and then does not sleep until it has been asked for.
    const BETWEEN_CHECKS: u32 = 4096;

    /// Counts a look; whether the socket is to be asked for an error now.
    pub fn count(&mut self, is_empty: bool) -> bool {
        self.0 = if is_empty { self.0 + 1 } else { 0 };
        let is_due = self.0 >= Self::BETWEEN_CHECKS;
        if is_due {
            self.0 = 0;
        }
        is_due
    }
}
