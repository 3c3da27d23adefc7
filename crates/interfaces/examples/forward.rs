//! Forwards every frame between two interfaces, both ways, and does nothing else: what the ports alone can do.
//!
//!     forward LEFT RIGHT [af_packet]
//!
//! Runs until its standard input ends; the counters go to stdout then.

use std::error::Error;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hitless_interfaces::{Interface, Options, open};

/// Frames that one side may bring before the other one is looked at.
const TURN_FRAMES: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [left, right, ..] = names.as_slice() else { return Err("forward LEFT RIGHT [MODE]".into()) };
    let mut left = open(left, Options::default())?;
    let mut right = open(right, Options::default())?;
    eprintln!("{}: {}\n{}: {}", left.name(), left.mode(), right.name(), right.mode());
    let ended = AtomicBool::new(false);
    thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        scope.spawn(|| {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            ended.store(true, Ordering::Relaxed);
        });
        while !ended.load(Ordering::Relaxed) {
            forward(&mut *left, &mut *right)?;
            forward(&mut *right, &mut *left)?;
        }
        println!("{:?}\n{:?}", left.counters()?, right.counters()?);
        Ok(())
    })
}

fn forward(from: &mut dyn Interface, to: &mut dyn Interface) -> std::io::Result<()> {
    let count = from.receive(TURN_FRAMES, &mut |frame| {
        // What is refused is in the counters.
        let _ = to.send(frame.bytes);
    })?;
    if count > 0 { to.flush() } else { Ok(()) }
}
