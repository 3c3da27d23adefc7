use std::io;
use std::time::Duration;

use super::datagram::{Stamp, Template};
use crate::interfaces::Interface;
use crate::interfaces::sys::machine::monotonic_ns;

/// Frames between two kicks at full speed: a kick costs a system call.
const BATCH: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// Number that identifies it at the sink.
    pub id: u32,
    /// Length of a frame in bytes, without check sequence.
    pub frame_bytes: usize,
    /// Frames per second; `None` for full speed.
    pub rate_pps: Option<f64>,
    pub duration: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    /// Frames that the kernel accepted.
    pub frames_sent: u64,
    /// Number of retries because the ring was full: the interface was the bottleneck.
    pub ring_full: u64,
    /// Time from the first to the last frame.
    pub elapsed_ns: u64,
}

/// Sends `stream`. At a given rate every frame has a scheduled time, and late frames are sent at once; at full speed
/// frames wait for room in the ring.
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

/// Number of frames due within `elapsed_ns` of the first one.
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
