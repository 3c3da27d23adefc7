//! Whole scenarios, run and looked at from outside. One program, since each would instantiate the simulator anew.

mod afq;
mod bolt;
mod compositions;
mod congestion;
mod deflection;
mod determinism;
mod failures;
mod flow_queueing;
mod layers;
mod linkguardian;
mod live_cuts;
mod losses;
mod measures;
mod open_connections;
mod requests;
mod rimm;
mod rivals;
mod sequence;
mod session;
mod support;
mod swift;
mod switch_ports;
mod testbed;
mod trimming;
mod two_choices;
mod vertigo;
