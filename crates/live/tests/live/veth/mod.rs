//! Ports on real veth interfaces, in separate network namespaces. Without permission for namespaces every test reports
//! that and passes.

mod common;
mod packet;
mod traffic;
mod xdp;
