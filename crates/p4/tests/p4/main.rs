//! Programs on packets, including the papers' systems, and the control plane in P4Runtime's text format.

mod control;
mod older;
mod p4runtime;
mod papers;
mod programs;
mod requests;
mod small;
mod source;
