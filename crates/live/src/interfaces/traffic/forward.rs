//! A plain forwarder: what ports can do without a switch between them.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::interfaces::Interface;

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
