//! A year and the optimizer compared with slow reference implementations.

mod optimizer;
mod reference;
mod slow;
