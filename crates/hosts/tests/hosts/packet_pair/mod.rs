//! Packet pair from outside: recorded exchanges, random pipes, and what it makes of a bottleneck.

mod convergence;
mod exchanges;
mod random_pipes;
mod receiver_exchanges;
mod rounds;
mod script;
