//! A generator, a sink and a plain forwarder over ports, for benchmarks of a live switch.
//!
//! The sink uses the kernel's receive timestamps, so that its polling interval does not matter. Generator and sink run
//! in one process on one machine: both times are of the same clock.

mod datagram;
mod generator;
mod sink;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

use crate::interfaces::sys::machine::{monotonic_ns, pin};
use crate::interfaces::{Arrived, Interface, Together};

pub use datagram::FRAME_BYTES_MIN;
pub use generator::{Generated, Stream, generate};
pub use sink::{Arrivals, Sink};

#[derive(Clone, Debug)]
pub struct Measured {
    pub generated: Generated,
    pub arrivals: Arrivals,
}

impl Measured {
    /// Number of frames that were sent and did not arrive.
    pub fn frames_lost(&self) -> u64 {
        self.generated.frames_sent.saturating_sub(self.arrivals.frames)
    }
}

/// Processors of the two ends; `None` for any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processors {
    pub generator: Option<usize>,
    pub sink: Option<usize>,
}

/// Time without an arrival after which missing frames count as lost.
const PATIENCE_NS: u64 = 300_000_000;

/// Sends `stream` through `from` and counts the arrivals at `to`, each in a separate thread.
///
/// # Errors
/// If an interface is removed, or a processor does not exist.
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

/// Sleeps between two looks. The ring holds frames meanwhile, and a spinning sink would take time from the measured
/// switch.
fn nap() {
    thread::sleep(Duration::from_micros(200));
}

/// Maximum number of frames of one side before the other side has its turn.
const TURN_FRAMES: usize = 64;

/// Forwards every frame of each side to the other until `ended` is set. The other side's counters include the frames
/// that it refused.
pub fn forward(left: &mut dyn Interface, right: &mut dyn Interface, ended: &AtomicBool) -> io::Result<()> {
    while !ended.load(Ordering::Relaxed) {
        turn(left, right)?;
        turn(right, left)?;
    }
    Ok(())
}

fn turn(from: &mut dyn Interface, to: &mut dyn Interface) -> io::Result<()> {
    from.receive_whole(TURN_FRAMES, &mut |arrived| match arrived {
        Arrived::Frame(frame) => drop(to.send(frame.bytes)),
        Arrived::Merged(merged) => {
            let (buffer, segments) = (&merged.bytes[merged.start..], merged.segments);
            to.send_together(&Together { buffer, segments, numbers: 0..segments.count() });
        }
    })?;
    // Flush even without new frames: the kernel can have lacked room for the last ones.
    to.flush().map(|_| ())
}
