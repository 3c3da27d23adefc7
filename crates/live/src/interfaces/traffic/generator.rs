//! The generator.

use std::io;
use std::time::Duration;

use super::datagram::{Stamp, Template};
use crate::interfaces::Interface;
use crate::interfaces::sys::machine::monotonic_ns;

/// Frames between two kicks at full speed: a kick costs a system call.
const BATCH: u64 = 64;

/// A stream of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// Number by which the sink knows it.
    pub id: u32,
    /// Bytes of a frame, without check sequence.
    pub frame_bytes: usize,
    /// Frames per second; none for as many as possible.
    pub rate_pps: Option<f64>,
    /// For how long.
    pub duration: Duration,
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    /// Frames that the kernel took.
    pub frames_sent: u64,
    /// Times at which the ring was full, and the generator tried again: the interface was the limit.
    pub ring_full: u64,
    /// From the first frame to the last one.
    pub elapsed_ns: u64,
}

/// Sends `stream`. At a given rate every frame has its time, and one that is late is sent at once; at full speed frames
/// wait for room in the ring.
///
/// # Errors
/// When the interface is gone, or a frame does not fit it.
pub fn generate(port: &mut dyn Interface, stream: &Stream) -> io::Result<Generated> {
    let mut template = Template::new(stream.frame_bytes);
    let mut generated = Generated::default();
    let start = monotonic_ns();
    let end = start + u64::try_from(stream.duration.as_nanos()).unwrap_or(u64::MAX / 2);
    loop {
        let now = monotonic_ns();
        if now >= end {
            break;
        }
        let due = stream.rate_pps.map_or(u64::MAX, |rate| frames_due(now - start, rate));
        let batch = due.saturating_sub(generated.frames_sent).min(BATCH);
        for _ in 0..batch {
            put(port, &mut template, stream.id, &mut generated)?;
        }
        if batch > 0 {
            port.flush()?;
        } else {
            std::hint::spin_loop();
        }
    }
    generated.elapsed_ns = monotonic_ns() - start;
    Ok(generated)
}

/// Frames whose time has come `elapsed_ns` after the first one.
#[expect(clippy::cast_precision_loss, reason = "a double counts to 2^53, which is a hundred days of nanoseconds")]
fn frames_due(elapsed_ns: u64, rate_pps: f64) -> u64 {
    (elapsed_ns as f64 * 1e-9 * rate_pps) as u64 + 1
}

fn put(port: &mut dyn Interface, template: &mut Template, id: u32, generated: &mut Generated) -> io::Result<()> {
    use crate::interfaces::Refusal;
    loop {
        let stamp = Stamp { stream: id, sequence: generated.frames_sent, sent_ns: monotonic_ns() };
        match port.send(template.stamped(stamp)) {
            Ok(()) => {
                generated.frames_sent += 1;
                return Ok(());
            }
            Err(Refusal::RingFull) => {
                generated.ring_full += 1;
                port.flush()?;
            }
            Err(refusal) => return Err(io::Error::other(format!("a frame of the stream was refused: {refusal:?}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_is_due_at_once_and_the_rest_at_the_rate() {
        for (elapsed_ns, rate, due) in [(0, 1.0, 1), (999_999_999, 1.0, 1), (1_000_000_000, 1.0, 2), (10, 1e9, 11)] {
            assert_eq!(frames_due(elapsed_ns, rate), due, "{elapsed_ns} ns at {rate}/s");
        }
    }
}
