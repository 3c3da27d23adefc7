//! Packet pair: the flow control that AFQ's authors built for fair-queueing switches.
//!
//! After AFQ (Sharma et al., NSDI 2018), section 5 and appendix A, figure 13. Packets leave in pairs. Where the
//! network serves flows fairly, the time between the arrivals of the two is what a packet of this flow takes at its
//! share of the bottleneck; the receiver measures it and returns it. From it follow the rate at which pairs are sent
//! and how much may be in flight. Everything else is TCP's: [`PacketPairSender`] and [`PacketPairReceiver`] hold a
//! [`super::tcp`] sender and receiver, which number, acknowledge, find what was lost and send it again, and estimate
//! the fraction of marked bytes as DCTCP does; the congestion window is put out of action.
//!
//! # What the paper leaves open
//! - **Gain** of the moving average over gaps: a quarter. On the paper's network, 10 Gb/s and 10 us, four pairs are a
//!   round trip, and section 5 averages over the last round trip.
//! - **Rate at the start**: figure 13 computes no rate in the state STARTUP; here the first gap gives it.
//! - **No gap yet**: until one was measured, each acknowledgement lets one pair go.
//! - **Which gaps count**: only those between two packets of the same pair, both of which arrived in order of sending,
//!   where the second was a full segment. A gap of zero (a receiver that cannot tell the two arrivals apart) is none.
//! - **When it is measured**: when the network card takes the packets off the link, as the authors' implementation did
//!   with hardware timestamps (section 6.1.2), so the receiving host's stack adds nothing. The sending host's does.
//! - **Lost packets**: what is sent again takes the place of new data in the pairs, at the same rate. A loss changes
//!   neither the rate nor what may be in flight; a retransmission timeout begins anew with one pair. A tail loss probe
//!   (RFC 8985) goes out alone and at once.
//! - **Single packets**: what has no second to go with it is sent alone, and is acknowledged at once; otherwise one
//!   acknowledgement answers both packets, as in figure 13. When the second does not come, the first is acknowledged
//!   after a time.
//! - **After a pause** longer than a round trip nothing is known about the flow's share: it begins anew with one pair.
//! - **Rounds longer than a packet**: section 5 puts a delay of BpR - MSS bytes at line rate between the two packets,
//!   so that AFQ serves them in different rounds. That holds where sender and bottleneck have the same rate; behind a
//!   slower bottleneck both fall into one round. Here the flow's own packets fill the delay: the two are a round apart
//!   whatever the rates, and the gap has that many packets. Four of these pairs are measured in a round trip, and the
//!   others, of two packets, are not.
//! - **Long round trips**: section 5 averages over the last round trip, skips cycles when the estimate falls and
//!   injects packets when it rises (Keshav's control law, reference 24); figure 13 has none of that. Where one holds
//!   no more than 1 / GAIN pairs, as on the paper's network, this is figure 13. Where it holds more, measured pairs are
//!   longer, four to a round trip, and the rate is corrected by what is in flight. With pairs of two packets two flows
//!   can each measure the whole link for good: AFQ serves a round in the order of arrival, and the second packet of a
//!   pair can be the last of its round and the first of the next.

mod estimate;
mod receiver;
mod sender;
mod settings;

pub use receiver::PacketPairReceiver;
pub use sender::PacketPairSender;
pub use settings::PacketPairSettings;
