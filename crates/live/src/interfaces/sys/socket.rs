use std::fs::File;
use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// A value that a socket option or an ioctl can carry.
///
/// # Safety
/// The type must be plain old data: without relevant padding or pointers that Rust relies on, and valid for every bit
/// pattern.
pub unsafe trait Plain: Copy {}

/// Declares types of libc as plain data.
macro_rules! plain {
    ($($name:ty),* $(,)?) => {
        // SAFETY: integers, and C structs of integers and arrays of integers.
        $(unsafe impl Plain for $name {})*
    };
}

plain!(libc::c_int, libc::tpacket_req, libc::tpacket_stats, libc::packet_mreq, libc::sockaddr_ll);
plain!(libc::xdp_umem_reg_v1, libc::xdp_mmap_offsets, libc::xdp_statistics, libc::xdp_options, libc::sockaddr_xdp);
plain!(libc::sockaddr_nl);

/// A socket, closed at drop.
#[derive(Debug)]
pub struct Socket(OwnedFd);

impl Socket {
    /// Opens a non-blocking socket that child processes do not inherit.
    pub fn open(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<Self> {
        let kind = kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: takes and returns numbers.
        let fd = checked(unsafe { libc::socket(family, kind, protocol) })?;
        // SAFETY: the descriptor is new and has no other owner.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub fn set<T: Plain>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        let length = length_of::<T>();
        // SAFETY: `value` lives for the call, which reads `length` bytes, its size.
        checked(unsafe {
            libc::setsockopt(self.0.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), length)
        })?;
        Ok(())
    }

    /// Reads an option.
    ///
    /// # Errors
    /// The error of getsockopt(2), or `InvalidData` if the kernel's result has another length.
    pub fn get<T: Plain>(&self, level: libc::c_int, option: libc::c_int) -> io::Result<T> {
        let mut value = MaybeUninit::<T>::zeroed();
        let mut length = length_of::<T>();
        // SAFETY: `value` has room for `length` bytes, and the kernel writes no more.
        checked(unsafe {
            libc::getsockopt(self.0.as_raw_fd(), level, option, value.as_mut_ptr().cast(), &raw mut length)
        })?;
        if length != length_of::<T>() {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        // SAFETY: zeroed and then written by the kernel; every bit pattern of a `Plain` type is valid.
        Ok(unsafe { value.assume_init() })
    }

    pub fn bind<T: Plain>(&self, address: &T) -> io::Result<()> {
        // SAFETY: `address` lives for the call, which reads its size.
        checked(unsafe { libc::bind(self.0.as_raw_fd(), std::ptr::from_ref(address).cast(), length_of::<T>()) })?;
        Ok(())
    }

    /// Makes the kernel process the transmit ring, without waiting.
    pub fn kick(&self) -> io::Result<()> {
        // SAFETY: without data and address; null pointers of length 0 are not dereferenced.
        let result =
            unsafe { libc::sendto(self.0.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Sends one message of two parts, without waiting.
    pub fn send(&self, parts: [&[u8]; 2]) -> io::Result<()> {
        let mut vectors =
            parts.map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
        // SAFETY: a struct of integers and pointers: all zeros are valid.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = vectors.as_mut_ptr();
        message.msg_iovlen = vectors.len() as _;
        // SAFETY: the vectors and the slices that they describe live for the call, which only reads them.
        let sent = unsafe { libc::sendmsg(self.0.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Receives into `buffer`; returns the number of bytes, or `WouldBlock` if nothing has arrived.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: pointer and length describe a writable slice.
        let received = unsafe { libc::recv(self.0.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        usize::try_from(received).map_err(|_| io::Error::last_os_error())
    }

    /// Returns and clears the pending error of the socket.
    pub fn take_error(&self) -> io::Result<()> {
        match self.get::<libc::c_int>(libc::SOL_SOCKET, libc::SO_ERROR)? {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Waits until one of `descriptors` is readable (or in error), at most for `limit`; returns whether one is.
///
/// # Errors
/// The error of ppoll(2); a signal counts as "not readable".
pub fn wait_readable(descriptors: &[BorrowedFd<'_>], limit: Duration) -> io::Result<bool> {
    let mut polled: Vec<libc::pollfd> =
        descriptors.iter().map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }).collect();
    let limit = libc::timespec {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(limit.subsec_nanos().cast_signed()),
    };
    let count = libc::nfds_t::try_from(polled.len()).map_err(io::Error::other)?;
    // SAFETY: the array has `count` entries, and all pointers live for the call.
    let ready = unsafe { libc::ppoll(polled.as_mut_ptr(), count, &raw const limit, std::ptr::null()) };
    match checked(ready) {
        Ok(ready) => Ok(ready > 0),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error),
    }
}

/// Converts the result of a C call: a negative number means errno.
pub fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

const fn length_of<T>() -> libc::socklen_t {
    size_of::<T>() as libc::socklen_t
}

/// Moves the calling thread into the network namespace of `file`.
pub fn enter_network_namespace(file: &File) -> io::Result<()> {
    // SAFETY: takes only numbers, and changes only the kernel's state of the thread.
    checked(unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) })?;
    Ok(())
}

/// Returns this process's address on a netlink socket that receives `groups`.
pub fn netlink_address(groups: u32) -> libc::sockaddr_nl {
    // SAFETY: a struct of integers (one field is private): all zeros are valid.
    let mut address: libc::sockaddr_nl = unsafe { zeroed() };
    address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
    address.nl_groups = groups;
    address
}
