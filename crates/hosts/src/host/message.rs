//! A message of an application.

use hitless_core::wire::Time;

/// A message, with its sender's knowledge; unknown times are [`Time::NEVER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub number: u64,
    pub bytes: u64,
    pub started: Time,
    pub delivered: Time,
    pub acknowledged: Time,
}
