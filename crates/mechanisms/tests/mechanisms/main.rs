//! Each mechanism on one switch or between two, run and looked at from outside. One program, since each would
//! instantiate the switch with all mechanisms anew.

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
