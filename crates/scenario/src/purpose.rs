//! What a scenario is read for.

/// What a scenario is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A simulation: its flows send, and it has an end.
    Simulation,
    /// A live run: real programs send, and somebody ends it.
    Live,
    /// None: somebody asks what its mechanisms take of a switch, also when that is more than there is.
    Survey,
}
