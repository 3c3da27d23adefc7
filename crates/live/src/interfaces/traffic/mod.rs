//! A generator, a sink and a plain forwarder over ports: what a bench of a live switch is measured with.
//!
//! The sink takes the times at which the kernel took frames in, so that how often it looks does not matter. Generator
//! and sink are one process on one machine: both times are of the same clock.

mod datagram;
mod generator;
mod sink;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

use crate::interfaces::Interface;
use crate::interfaces::sys::machine::{monotonic_ns, pin};

pub use datagram::FRAME_BYTES_MIN;
pub use generator::{Generated, Stream, generate};
pub use sink::{Arrivals, Sink};

/// What came of a stream.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What was sent.
    pub generated: Generated,
    /// What arrived.
    pub arrivals: Arrivals,
}

impl Measured {
    /// Frames that were sent and did not arrive.
    #[must_use]
    pub fn frames_lost(&self) -> u64 {
        self.generated.frames_sent.saturating_sub(self.arrivals.frames)
    }
}

/// Processors on which the two ends run; none for any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processors {
    /// Of the generator.
    pub generator: Option<usize>,
    /// Of the sink.
    pub sink: Option<usize>,
}

/// After this time without an arrival, frames that are missing are lost.
const PATIENCE_NS: u64 = 300_000_000;

/// Sends `stream` through `from` and counts what arrives at `to`, each in a thread of its own.
///
/// # Errors
/// When an interface goes away, or there is no such processor.
pub fn measure(
    from: &mut (dyn Interface + Send),
    to: &mut (dyn Interface + Send),
    stream: &Stream,
    processors: Processors,
) -> io::Result<Measured> {
    let sent_all = AtomicBool::new(false);
    thread::scope(|scope| {
        let sink = scope.spawn(|| pin(processors.sink).and_then(|()| collect(to, stream, &sent_all)));
        let generator = scope.spawn(|| pin(processors.generator).and_then(|()| generate(from, stream)));
        let generated = generator.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        sent_all.store(true, Ordering::Release);
        let arrivals = sink.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(Measured { generated: generated?, arrivals })
    })
}

fn collect(to: &mut dyn Interface, stream: &Stream, sent_all: &AtomicBool) -> io::Result<Arrivals> {
    let mut sink = Sink::new(stream.id);
    let overrun_before = to.counters()?.frames_overrun;
    let mut last_arrival = monotonic_ns();
    loop {
        if sink.look(to)? > 0 {
            last_arrival = monotonic_ns();
        } else if !sent_all.load(Ordering::Acquire) {
            last_arrival = monotonic_ns();
            nap();
        } else if monotonic_ns() - last_arrival > PATIENCE_NS {
            break;
        } else {
            nap();
        }
    }
    let overrun = to.counters()?.frames_overrun - overrun_before;
    Ok(sink.finish(overrun))
}

/// The ring holds what comes meanwhile; a sink that spins would take time from what is measured.
fn nap() {
    thread::sleep(Duration::from_micros(200));
}

/// Frames that one side may bring before the other one is looked at.
const TURN_FRAMES: usize = 64;

/// Hands every frame of each side to the other one until `ended` is set. What the other side refuses is in its
/// counters.
///
/// # Errors
/// When an interface is gone.
pub fn forward(left: &mut dyn Interface, right: &mut dyn Interface, ended: &AtomicBool) -> io::Result<()> {
    while !ended.load(Ordering::Relaxed) {
        turn(left, right)?;
        turn(right, left)?;
    }
    Ok(())
}

fn turn(from: &mut dyn Interface, to: &mut dyn Interface) -> io::Result<()> {
    from.receive(TURN_FRAMES, &mut |frame| {
        let _ = to.send(frame.bytes);
    })?;
    // Also without new frames: the kernel may have had no room for the last ones.
    to.flush().map(|_| ())
}
