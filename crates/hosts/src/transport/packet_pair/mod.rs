//! Packet pair: the flow control of AFQ's authors for fair-queueing switches.
//!
//! After AFQ (Sharma et al., NSDI 2018), section 5 and appendix A, figure 13. Packets leave in pairs. If the network
//! serves flows fairly, the gap between their arrivals is the service time of one packet at the flow's share of the
//! bottleneck. The receiver measures the gap and returns it. It determines the rate of pairs and the maximum bytes in
//! flight. Everything else is TCP's: [`PacketPairSender`] and [`PacketPairReceiver`] hold a [`super::tcp`] sender and
//! receiver for sequence numbers, acknowledgements, loss detection, retransmission and DCTCP's estimate of the fraction
//! of marked bytes. The congestion window is disabled.
//!
//! # Choices that the paper leaves open
//! - **Gain** of the moving average over gaps: a quarter. On the paper's network (10 Gb/s, 10 us) a round trip holds
//!   four pairs, and section 5 averages over the last round trip.
//! - **Rate at the start**: figure 13 computes no rate in the state STARTUP; here the first gap sets it.
//! - **No gap yet**: until the first gap is measured, each acknowledgement releases one pair.
//! - **Which gaps count**: only those between two packets of the same pair that arrived in order, if the second was a
//!   full segment. A gap of zero (the receiver cannot tell the two arrivals apart) is ignored.
//! - **When it is measured**: when the network card takes the packets off the link, as the authors' implementation did
//!   with hardware timestamps (section 6.1.2), so the receiving host's stack adds nothing. The sending host's does.
//! - **Lost packets**: retransmissions take the place of new data in the pairs, at the same rate. A loss changes
//!   neither the rate nor the maximum in flight; after a retransmission timeout the flow starts again with one pair. A
//!   tail loss probe (RFC 8985) goes out alone and at once.
//! - **Single packets**: a packet without a second is sent alone and acknowledged at once; otherwise one
//!   acknowledgement answers both packets, as in figure 13. If the second does not arrive, the first is acknowledged
//!   after a timeout.
//! - **After a pause** longer than a round trip the flow's share is unknown: it starts again with one pair.
//! - **Rounds longer than a packet**: section 5 puts a delay of BpR - MSS bytes at line rate between the two packets,
//!   so that AFQ serves them in different rounds. That works if sender and bottleneck have the same rate; at a slower
//!   bottleneck both fall into one round. Here the flow's own packets fill the delay: the two are a round apart at any
//!   rate, and the gap spans that many packets. Four of these pairs are measured per round trip; the others, of two
//!   packets, are not.
//! - **Long round trips**: section 5 averages over the last round trip, skips cycles when the estimate falls and
//!   injects packets when it rises (Keshav's control law, reference 24); figure 13 does neither. If a round trip holds
//!   at most 1 / GAIN pairs, as on the paper's network, this is figure 13. If it holds more, measured pairs are longer,
//!   four per round trip, and the rate is corrected by the bytes in flight. With pairs of two packets, two flows could
//!   each measure the whole link forever: AFQ serves a round in order of arrival, and the two packets of a pair can be
//!   the last of one round and the first of the next.

mod estimate;
mod receiver;
mod sender;
mod settings;

pub use receiver::PacketPairReceiver;
pub use sender::PacketPairSender;
pub use settings::PacketPairSettings;
