//! An interface without a kernel: the test holds the other end of its queues.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hitless_live::interfaces::{Counters, Interface, MonotonicTime, Received, Refusal};

#[derive(Debug, Default)]
struct Wire {
    towards: VecDeque<(MonotonicTime, Vec<u8>)>,
    sent: VecDeque<Vec<u8>>,
    counters: Counters,
    is_gone: bool,
    is_one_of_a_kind: bool,
}

/// The test's end of a [`MemoryInterface`].
#[derive(Clone, Debug)]
pub struct FarEnd(Arc<Mutex<Wire>>);

#[derive(Debug)]
pub struct MemoryInterface {
    name: String,
    /// Capacity of the transmit ring between two flushes.
    ring: usize,
    unflushed: VecDeque<Vec<u8>>,
    wire: Arc<Mutex<Wire>>,
}

/// Makes both ends of an interface with a transmit ring of `ring` frames.
pub fn pair(name: &str, ring: usize) -> (MemoryInterface, FarEnd) {
    let wire = Arc::new(Mutex::new(Wire::default()));
    let interface =
        MemoryInterface { name: name.to_owned(), ring, unflushed: VecDeque::new(), wire: Arc::clone(&wire) };
    (interface, FarEnd(wire))
}

fn locked(wire: &Mutex<Wire>) -> MutexGuard<'_, Wire> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FarEnd {
    /// Sends a frame to the driver with the "kernel's" timestamp `at`.
    pub fn send(&self, at: MonotonicTime, frame: &[u8]) {
        locked(&self.0).towards.push_back((at, frame.to_vec()));
    }

    /// Takes all frames that the driver has sent since the last call.
    pub fn receive(&self) -> Vec<Vec<u8>> {
        locked(&self.0).sent.drain(..).collect()
    }

    /// Simulates `frames` overruns of the receive ring.
    pub fn overrun(&self, frames: u64) {
        locked(&self.0).counters.frames_overrun += frames;
    }

    pub fn unplug(&self) {
        locked(&self.0).is_gone = true;
    }

    /// Adds an interface of the same name again.
    pub fn plug(&self) {
        locked(&self.0).is_gone = false;
    }

    /// Makes the port unable to rejoin another interface.
    pub fn refuse_to_rejoin(&self) {
        locked(&self.0).is_one_of_a_kind = true;
    }
}

impl MemoryInterface {
    fn wire(&self) -> io::Result<MutexGuard<'_, Wire>> {
        let wire = locked(&self.wire);
        if wire.is_gone { Err(io::Error::from_raw_os_error(ENETDOWN)) } else { Ok(wire) }
    }
}

/// "Network is down": the error of a packet socket without its interface.
const ENETDOWN: i32 = 100;

impl Interface for MemoryInterface {
    fn name(&self) -> &str {
        &self.name
    }

    fn mode(&self) -> &str {
        "memory"
    }

    fn frame_limit_bytes(&self) -> usize {
        2_048
    }

    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        let mut wire = self.wire()?;
        let count = limit.min(wire.towards.len());
        wire.counters.frames_received += count as u64;
        for (at, bytes) in wire.towards.drain(..count) {
            take(Received { bytes: &bytes, at });
        }
        Ok(count)
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        let refusal = match (frame.len() > self.frame_limit_bytes(), self.unflushed.len() >= self.ring) {
            (true, _) => Some(Refusal::TooLong),
            (_, true) => Some(Refusal::RingFull),
            _ => None,
        };
        let mut wire = locked(&self.wire);
        if let Some(refusal) = refusal {
            wire.counters.frames_refused += 1;
            return Err(refusal);
        }
        wire.counters.frames_sent += 1;
        self.unflushed.push_back(frame.to_vec());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<bool> {
        let frames = std::mem::take(&mut self.unflushed);
        self.wire()?.sent.extend(frames);
        Ok(true)
    }

    fn counters(&mut self) -> io::Result<Counters> {
        Ok(self.wire()?.counters)
    }

    fn look(&mut self) -> io::Result<()> {
        self.wire().map(|_| ())
    }

    fn rejoin(&mut self) -> io::Result<()> {
        let wire = locked(&self.wire);
        match (wire.is_one_of_a_kind, wire.is_gone) {
            (true, _) => Err(io::Error::new(io::ErrorKind::Unsupported, "start anew")),
            (_, true) => Err(io::Error::from(io::ErrorKind::NotFound)),
            _ => Ok(()),
        }
    }

    fn wakes(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
