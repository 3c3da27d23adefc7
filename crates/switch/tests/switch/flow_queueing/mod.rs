//! Queueing by flow: each discipline against its definition, and all of them in a switch.

mod conservation;
mod fq_codel;
mod ideal;
pub mod lane;
mod round_robin;
