//! Requests about network interfaces: ioctl(2) with a `struct ifreq` (netdevice(7)).

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd};

use super::socket::{Socket, checked};

/// A socket for queries and changes of interfaces, in the network namespace in which it was opened.
#[derive(Debug)]
pub struct Control(Socket);

impl Control {
    /// Opens a socket in the network namespace of the calling thread.
    pub fn open() -> io::Result<Self> {
        Socket::open(libc::AF_INET, libc::SOCK_DGRAM, 0).map(Self)
    }

    /// Reads the index of interface `name`.
    ///
    /// # Errors
    /// `ENODEV` if it does not exist; `InvalidInput` if the name is not valid.
    pub fn index(&self, name: &str) -> io::Result<libc::c_int> {
        let request = self.ask(name, libc::SIOCGIFINDEX)?;
        // SAFETY: the kernel has answered with this member.
        Ok(unsafe { request.ifr_ifru.ifru_ifindex })
    }

    /// Reads the address family of interface `name`: `ARPHRD_ETHER`, `ARPHRD_LOOPBACK` and so on.
    pub fn hardware_kind(&self, name: &str) -> io::Result<u16> {
        let request = self.ask(name, libc::SIOCGIFHWADDR)?;
        // SAFETY: the kernel has answered with this member.
        Ok(unsafe { request.ifr_ifru.ifru_hwaddr.sa_family })
    }

    pub fn address(&self, name: &str) -> io::Result<[u8; 6]> {
        let request = self.ask(name, libc::SIOCGIFHWADDR)?;
        // SAFETY: the kernel has answered with this member.
        let address = unsafe { request.ifr_ifru.ifru_hwaddr.sa_data };
        let mut bytes = [0; 6];
        for (byte, character) in bytes.iter_mut().zip(address) {
            *byte = character.cast_unsigned();
        }
        Ok(bytes)
    }

    pub fn mtu(&self, name: &str) -> io::Result<usize> {
        let request = self.ask(name, libc::SIOCGIFMTU)?;
        // SAFETY: the kernel has answered with this member.
        let mtu = unsafe { request.ifr_ifru.ifru_mtu };
        usize::try_from(mtu).map_err(io::Error::other)
    }

    /// Sets the MTU of interface `name`.
    pub fn set_mtu(&self, name: &str, mtu_bytes: usize) -> io::Result<()> {
        let mut request = named(name)?;
        request.ifr_ifru.ifru_mtu = libc::c_int::try_from(mtu_bytes).map_err(io::Error::other)?;
        self.request(libc::SIOCSIFMTU, &mut request)
    }

    /// Reads the flags of interface `name`: `IFF_UP`, `IFF_RUNNING` and so on.
    pub fn flags(&self, name: &str) -> io::Result<libc::c_int> {
        let request = self.ask(name, libc::SIOCGIFFLAGS)?;
        // SAFETY: the kernel has answered with this member.
        Ok(libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags }))
    }

    pub fn set_up(&self, name: &str, up: bool) -> io::Result<()> {
        let flags = self.flags(name)?;
        let flags = if up { flags | libc::IFF_UP } else { flags & !libc::IFF_UP };
        let mut request = named(name)?;
        // The ioctl has only the lower half of the flags.
        request.ifr_ifru.ifru_flags = (flags & 0xffff) as libc::c_short;
        self.request(libc::SIOCSIFFLAGS, &mut request)
    }

    /// Makes the kernel read and write `data`, an ethtool request in the form of linux/ethtool.h, as 32-bit words.
    ///
    /// The request's counts determine how much the kernel writes. `data` is checked for room for `room_words`, the
    /// maximum number of words that the command writes.
    ///
    /// # Safety
    /// `room_words` must be at least the number of words that the command in `data` makes the kernel read and write.
    pub unsafe fn ethtool(&self, name: &str, data: &mut [u32], room_words: usize) -> io::Result<()> {
        if data.len() < room_words {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let mut request = named(name)?;
        request.ifr_ifru.ifru_data = data.as_mut_ptr().cast();
        self.request(libc::SIOCETHTOOL, &mut request)
    }

    fn ask(&self, name: &str, what: libc::Ioctl) -> io::Result<libc::ifreq> {
        let mut request = named(name)?;
        self.request(what, &mut request)?;
        Ok(request)
    }

    fn request(&self, what: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
        // SAFETY: every request of this module takes an ifreq, which lives for the call; a pointer within it is valid
        // for the kernel's accesses, as `ethtool` requires.
        checked(unsafe { libc::ioctl(self.0.as_fd().as_raw_fd(), what, std::ptr::from_mut(request)) })?;
        Ok(())
    }
}

fn named(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: integers, arrays of integers and a nullable pointer: all zeros are valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    // Leave a place for the terminating zero.
    if name.is_empty() || name.len() >= request.ifr_name.len() || name.bytes().any(|byte| byte == 0 || byte == b'/') {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte.cast_signed();
    }
    Ok(request)
}
