//! The halves of the pipeline.

/// A half of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Half {
    /// Before the traffic manager: the hooks `rx` and `ingress`, and events.
    Ingress,
    /// After the traffic manager: `egress`, `tx` and `on_tm_drop`.
    Egress,
}
