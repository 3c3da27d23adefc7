//! TCP from outside: recorded exchanges, random pipes, and the square-root law.

mod exchanges;
mod pipe;
mod random_pipes;
mod receiver_exchanges;
mod script;
mod square_root;
mod timers;
