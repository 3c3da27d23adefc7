//! Packet pair from outside: recorded exchanges, random pipes, and convergence at a bottleneck.

mod convergence;
mod exchanges;
mod random_pipes;
mod receiver_exchanges;
mod rounds;
mod script;
