//! Links that fail and are repaired, from scenario files: what is lost, which way packets go, what is measured.

mod busy;
mod order;
mod recovery;
mod sqr;
mod triangle;
