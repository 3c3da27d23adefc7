//! An interpreter for P4 programs compiled by p4c for BMv2 and its architecture v1model.
//!
//! A document (`json`) is compiled once (`compile`) to a [`Program`](program::Program) of flat arrays. A
//! [`Packet`](packet::Packet) is an array of values in wire format; a [`Run`](run::Run) takes it through parser, tables
//! and actions without an allocation. A [`Pipeline`](pipeline::Pipeline) connects the parts in the order of v1model,
//! with clones, multicast and so on. [`commands`] is the control plane in the language of simple_switch_CLI; [`stf`]
//! runs p4c's packet tests. Start reading at [`program`], then [`run`] and [`pipeline`].
//!
//! The crate does not compile P4 and does not know a network: time is an argument, and the trait
//! [`Fabric`](fabric::Fabric) covers the queries to the surrounding switch.

// Docs are required only where outsiders look: in the switch, the mechanism interface and the settings.
#![allow(missing_docs)]

pub mod action;
mod bits;
mod calculate;
pub mod commands;
mod compile;
mod control;
pub mod deparse;
pub mod entries;
pub mod error;
mod expression;
pub mod fabric;
pub mod hash;
mod json;
pub mod meter;
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
