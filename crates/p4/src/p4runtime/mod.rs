//! The control plane in the language of P4Runtime, as text: entries form a `p4.v1.WriteRequest`, and the program's
//! `p4.config.v1.P4Info`, written by `p4c --p4runtime-files`, defines their numbers.
//!
//! "P4Runtime, section ..." is the P4Runtime Specification of p4.org, version 1.4.

pub mod info;
mod messages;
pub mod schema;
pub mod text;
pub mod write;
