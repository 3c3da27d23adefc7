//! Transports under scripts, over pipes that lose and delay, and at bottlenecks.

mod bottleneck;
mod faults;
mod packet_pair;
mod pipe;
mod roce;
mod tcp;
