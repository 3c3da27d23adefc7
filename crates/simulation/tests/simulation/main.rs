//! Tests of whole scenarios through the public interface. They form one program, because each program would compile the
//! simulator's generic code again.

mod afq;
mod bolt;
mod captures;
mod checkpoints;
mod compositions;
mod congestion;
mod deflection;
mod determinism;
mod do_no_harm;
mod every_nth;
mod failures;
mod flow_queueing;
mod gro;
mod layers;
mod linkguardian;
mod links_beyond;

mod losses;
mod measures;
mod open_connections;
mod own_congestion;
mod partitions;
mod protocols;
mod relations;
mod renaming;
mod requests;
mod rimm;
mod rivals;
mod sequence;
mod session;
mod shared_switch;
mod shifted;
mod streaming;
mod support;
mod swift;
mod switch_ports;
mod testbed;
mod trimming;
mod two_choices;
mod uet;
mod unrelated_flows;
mod vertigo;
