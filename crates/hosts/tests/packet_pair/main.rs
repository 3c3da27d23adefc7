//! Packet pair from outside: recorded exchanges, random pipes, and what it makes of a bottleneck.

#[path = "../support/bottleneck.rs"]
mod bottleneck;
mod convergence;
mod exchanges;
#[path = "../support/faults.rs"]
mod faults;
#[path = "../support/pipe.rs"]
mod pipe;
mod random_pipes;
mod receiver_exchanges;
mod rounds;
mod script;
