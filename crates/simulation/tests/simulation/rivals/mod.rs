//! LinkGuardian's rivals on a fabric.

mod link_layer_retry;
mod wharf;
