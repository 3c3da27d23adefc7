//! TCP from outside: recorded exchanges, random pipes, the square-root law, and BBR and Swift on a shared link.

mod bbr;
mod bolt;
mod classic_reno;
mod exchanges;
mod pacing;
mod random_pipes;
mod receiver_exchanges;
mod script;
mod square_root;
mod swift;
mod timers;
mod trimmed;
