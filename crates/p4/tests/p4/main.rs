//! Programs on packets, the papers' systems among them, and the control plane in P4Runtime's text.

mod control;
mod older;
mod p4runtime;
mod papers;
mod programs;
mod requests;
mod small;
mod source;
