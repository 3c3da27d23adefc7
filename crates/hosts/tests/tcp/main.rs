//! TCP from outside: recorded exchanges, random pipes, the square-root law, and BBR on a shared link.

mod bbr;
#[path = "../support/bottleneck.rs"]
mod bottleneck;
mod exchanges;
#[path = "../support/faults.rs"]
mod faults;
mod pacing;
#[path = "../support/pipe.rs"]
mod pipe;
mod random_pipes;
mod receiver_exchanges;
mod reno_without_sack;
mod script;
mod square_root;
mod timers;
mod trimmed;
