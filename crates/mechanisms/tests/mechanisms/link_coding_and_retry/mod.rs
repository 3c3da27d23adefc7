//! The rivals of LinkGuardian between two switches, against losses that the test chooses.

mod link_layer_retry;
mod wharf;
mod world;
