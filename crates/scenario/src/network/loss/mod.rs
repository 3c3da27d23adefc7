//! Loss models: which frames of a link arrive corrupted.
//!
//! [`Corruption`] decides frame by frame, in the order of arrival, by a [`LossModel`]; [`trace`] reads recorded losses.

mod arrival;
mod bit_errors;
mod corruption;
mod gilbert_elliott;
mod model;
mod periodic;
pub mod trace;

pub use arrival::ArrivingFrame;
pub use bit_errors::{BitErrorLoss, ErrorCorrection};
pub use corruption::Corruption;
pub use gilbert_elliott::GilbertElliottLoss;
pub use model::{BernoulliLoss, LossModel};
pub use periodic::PeriodicLoss;
pub use trace::{TraceEnd, TraceLoss};

#[cfg(test)]
mod tests;
