//! What the kernel is asked for, and all `unsafe` code of the project.
//!
//! Everything that leaves this module is safe to call with any arguments: offsets that the kernel writes into shared
//! memory are checked against the mapping before they are used.

#![allow(unsafe_code)]
#![warn(clippy::undocumented_unsafe_blocks)]

pub mod bpf;
pub mod ethtool;
pub mod machine;
mod mapping;
pub mod network;
pub mod slots;
pub mod socket;
pub mod xdp;
