//! Forwards every frame between two interfaces, both ways, and does nothing else: what the ports alone can do.
//!
//!     forward LEFT RIGHT [packet|xdp|xdp-zero-copy|xdp-copy|xdp-generic|auto]
//!
//! Runs until its standard input ends; the counters go to stdout then.

use std::error::Error;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hitless_interfaces::traffic::forward;
use hitless_interfaces::{Options, Preference, open};

fn main() -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [left, right, mode @ ..] = names.as_slice() else { return Err("forward LEFT RIGHT [MODE]".into()) };
    let preference = mode.first().map_or(Ok(Preference::default()), |mode| mode.parse())?;
    let options = Options { preference, ..Options::default() };
    let (mut left, mut right) = (open(left, options)?, open(right, options)?);
    eprintln!("{}: {}\n{}: {}", left.name(), left.mode(), right.name(), right.mode());
    let ended = AtomicBool::new(false);
    thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        scope.spawn(|| {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            ended.store(true, Ordering::Relaxed);
        });
        forward(&mut *left, &mut *right, &ended)?;
        println!("{:?}\n{:?}", left.counters()?, right.counters()?);
        Ok(())
    })
}
