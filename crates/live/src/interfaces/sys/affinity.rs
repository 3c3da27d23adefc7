//! Processors that a thread may run on.

use std::io;
use std::mem::{size_of, zeroed};

use super::socket::checked;

/// Keeps the calling thread on `processor`; none changes nothing.
///
/// # Errors
/// `InvalidInput` when there is no such processor, or the process may not use it.
pub fn pin(processor: Option<usize>) -> io::Result<()> {
    let Some(processor) = processor else { return Ok(()) };
    // SAFETY: an array of integers: all zeros are valid.
    let mut set: libc::cpu_set_t = unsafe { zeroed() };
    if processor >= size_of::<libc::cpu_set_t>() * 8 {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: the bit lies in the set, as has just been checked.
    unsafe { libc::CPU_SET(processor, &mut set) };
    // SAFETY: the set lives for the call, which reads its size.
    checked(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) })?;
    Ok(())
}
