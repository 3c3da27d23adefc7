//! Queueing by flow: each discipline against its definition, and all of them in a switch.

mod conservation;
mod fq_codel;
mod ideal;
mod round_robin;
pub mod scheduler;
