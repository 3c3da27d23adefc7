//! AF_XDP: a socket, memory for frames that it shares with the kernel, and four rings that pass chunks of that memory
//! (Documentation/networking/af_xdp.rst of Linux).
//!
//! A chunk is in exactly one place: in our free list, in a ring, or with the kernel. Every chunk serves only one
//! direction.

mod ring;
mod socket;

pub use socket::{HEADROOM_BYTES, Shape, XdpSocket};
