//! AF_XDP: a socket, memory for frames that it shares with the kernel, and four rings over which chunks of that memory
//! pass (Documentation/networking/af_xdp.rst of Linux).
//!
//! A chunk is in exactly one place: free in a list of ours, in a ring, or with the kernel. Every chunk serves one
//! direction only.

mod ring;
mod socket;

pub use socket::{HEADROOM_BYTES, Shape, XdpSocket};
