//! The papers' systems as P4 programs (p4/) compared with the mechanisms in Rust, packet by packet. A switch of a
//! scenario is built twice, gets the same packets at the same times, and must have the same output. The program's
//! README lists the remaining differences, and the tests state them.

mod afq;
mod beside;
mod deflection;
mod linkguardian;
mod rimm;
mod runtime;
mod sqr;
