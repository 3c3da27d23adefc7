//! A spraying transport of AI fabrics: connections that send each packet on another path, in the style of Ultra
//! Ethernet (UET), with its congestion controls NSCC and RCCC.
//!
//! Source: the simulator of the Ultra Ethernet Consortium (github.com/ultraethernet/uet-htsim, revision 40ccb052),
//! which its authors publish with their results. It was read for its behaviour; the code here is independent. The
//! specification (UET 1.0) was not read. `mrc` follows public descriptions of Multipath Reliable Connection (OCP, 2026;
//! arXiv 2605.04333), and its details are assumptions.
//!
//! The [`UetSender`] numbers its packets and gives each an entropy value; [`paths`] chooses it. The [`UetReceiver`]
//! places packets in any order and acknowledges them cumulatively and by a bitmap. A packet counts as lost if a switch
//! trimmed it (the receiver reports that at once), if it is missing behind many later packets or after the answer to a
//! [`tail`] probe (both optional), or after a timeout. [`nscc`] computes a window from delay and marks; with RCCC the
//! receiver gives [`credit`] to its senders in turn.
//!
//! Not implemented: message boundaries on the wire, RCCC's control for oversubscribed fabrics.

mod credit;
mod flight;
mod nscc;
mod paths;
mod receiver;
mod sender;
mod settings;
mod tail;

#[cfg(test)]
mod tests;

pub use credit::{Grant, NextGrant};
pub use receiver::UetReceiver;
pub use sender::{UetSender, spread};
pub use settings::{PathChoice, UetCongestion, UetSettings};
