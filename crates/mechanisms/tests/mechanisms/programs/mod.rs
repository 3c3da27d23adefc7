//! The papers' systems as P4 programs (p4/) beside the mechanisms in Rust, packet by packet: a switch of one scenario is
//! built twice, is given the same packets at the same times, and what leaves it must be the same. What differs all the
//! same stands in the README of the program, and is what the test says.

mod afq;
mod beside;
mod deflection;
mod linkguardian;
mod rimm;
mod runtime;
mod sqr;
