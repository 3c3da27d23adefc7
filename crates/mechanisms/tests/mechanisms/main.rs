//! Each mechanism on a switch or between two, tested from outside. A single program, because each program would
//! instantiate the switch with all mechanisms again.

mod afq;
mod bolt;
mod deflection;
mod header_ids;
mod link_coding_and_retry;
mod linkguardian;
mod on_links;
mod one_switch;
mod programs;
mod rank_guard;
mod resources;
mod rimm;
mod sqr;
mod trimming;
mod two_switches;
mod vertigo;
