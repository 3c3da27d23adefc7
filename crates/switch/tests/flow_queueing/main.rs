//! Queueing by flow: each discipline against its definition, and all of them in a switch.

#[path = "../support/bit_by_bit.rs"]
mod bit_by_bit;
mod conservation;
mod fq_codel;
mod ideal;
mod lane;
mod round_robin;
