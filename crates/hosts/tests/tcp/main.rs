//! TCP from outside: recorded exchanges, random pipes, and the square-root law.

mod exchanges;
#[path = "../support/faults.rs"]
mod faults;
#[path = "../support/pipe.rs"]
mod pipe;
mod random_pipes;
mod receiver_exchanges;
mod reno_without_sack;
mod script;
mod square_root;
mod timers;
