//! A year and an optimizer against slow ways to the same answer.

mod optimizer;
mod reference;
mod slow;
