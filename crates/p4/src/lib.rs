//! P4 programs, as p4c compiles them for BMv2 and its architecture v1model, run on bytes.
//!
//! A document (`json`) is compiled once (`compile`) to a [`Program`](program::Program) of flat arrays. A
//! [`Packet`](packet::Packet) is a file of values as on the wire; a [`Run`](run::Run) takes one through parser, tables
//! and actions without an allocation. A [`Switch`](pipeline::Switch) joins the parts in the order of v1model, with
//! clones, multicast and the rest. [`commands`] is the control plane, in the language of simple_switch_CLI; [`stf`]
//! runs p4c's packet tests.
//!
//! It is not a compiler of P4, and knows nothing of a network: time is an argument, and what a program may ask of the
//! switch around it is the trait [`Fabric`](fabric::Fabric).

pub mod action;
mod bits;
mod calculate;
pub mod commands;
mod compile;
mod control;
pub mod counter;
pub mod deparse;
pub mod entries;
pub mod error;
mod expression;
pub mod fabric;
pub mod hash;
mod json;
mod meter;
mod node;
pub mod number;
pub mod observer;
pub mod p4runtime;
pub mod packet;
mod parser;
pub mod pipeline;
pub mod program;
pub mod replication;
pub mod run;
pub mod source;
pub mod state;
pub mod stf;
pub mod tables;
pub mod trace;
pub mod values;
