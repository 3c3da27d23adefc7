//! Clocks, and the processors that a thread can run on.

use std::io;
use std::mem::{size_of, zeroed};

use super::socket::checked;

pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of `CLOCK_REALTIME`, which packet sockets use for timestamps.
pub fn realtime_ns() -> u64 {
    clock_ns(libc::CLOCK_REALTIME)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` lives for the call, which writes one timespec.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(result, 0, "Linux has both clocks");
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Pins the calling thread to `processor`; `None` changes nothing.
///
/// # Errors
/// `InvalidInput` if the processor does not exist, or the process is not allowed to use it.
pub fn pin(processor: Option<usize>) -> io::Result<()> {
    let Some(processor) = processor else { return Ok(()) };
    // SAFETY: an array of integers: all zeros are valid.
    let mut set: libc::cpu_set_t = unsafe { zeroed() };
    if processor >= size_of::<libc::cpu_set_t>() * 8 {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: the bit is in the set, as checked above.
    unsafe { libc::CPU_SET(processor, &mut set) };
    // SAFETY: the set lives for the call, which reads its size.
    checked(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) })?;
    Ok(())
}
