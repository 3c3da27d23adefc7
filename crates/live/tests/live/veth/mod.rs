//! Ports on real veth interfaces, in network namespaces of their own. Where these are not permitted every test says so
//! and passes.

mod common;
mod packet;
mod traffic;
mod xdp;
