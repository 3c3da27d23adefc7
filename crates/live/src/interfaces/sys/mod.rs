//! Requests to the kernel, and all `unsafe` code of the project.
//!
//! The public functions of this module are safe for any arguments, unless marked `unsafe`: offsets that the kernel
//! writes into shared memory are checked against the mapping before they are used.

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
