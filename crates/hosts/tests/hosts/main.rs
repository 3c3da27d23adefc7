//! Transports in scripted exchanges, over pipes that lose and delay packets, and at bottlenecks.

mod bottleneck;
mod faults;
mod packet_pair;
mod pipe;
mod roce;
mod tcp;
mod uet;
