//! LinkGuardian's competitors on a fabric.

mod link_layer_retry;
mod wharf;
