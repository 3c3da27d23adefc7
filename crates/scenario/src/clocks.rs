//! `clocks`: the offsets of transmitters' clocks.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::line_clock::CLOCK_OFFSET_MAX_PPB;
use hitless_hosts::CardClock;
use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Clocks of transmitters, and the times at which frames leave network cards.
///
/// In a real fabric no two clocks agree, and no host sends with picosecond precision. Without these differences a run
/// can lock into a pattern where the order of ports decides who wins (Floyd and Jacobson, 1992).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clocks {
    /// Each transmitter's clock is off by up to 100 ppm (IEEE 802.3), drawn from the seed by the name of its link. A
    /// frame of an idle network card leaves up to 10 ns late, a frame of an active one up to its own transmission time
    /// late; a backlog keeps the line's rate. A datagram of a constant rate is late by up to a frame's time on the line
    /// of its host. Use it for results.
    #[default]
    Independent,
    /// All clocks run at exactly the same rate, and frames leave as soon as they can. Use it to compare with closed
    /// forms, with one flow at a time: if several senders share a port, hidden patterns can decide.
    Ideal,
}

impl Clocks {
    /// Draws the clock offset of the transmitter on the link with this name, in parts per billion (positive: too fast).
    pub fn offset_ppb(self, streams: &RandomStreams, link_name: &str) -> i32 {
        match self {
            Self::Ideal => 0,
            Self::Independent => {
                let values = 2 * CLOCK_OFFSET_MAX_PPB as u64 + 1;
                let drawn = streams.stream(&format!("clock at {link_name}")).next_u64() % values;
                drawn as i32 - CLOCK_OFFSET_MAX_PPB
            }
        }
    }

    /// Draws the clock of a network card that sends on the link with this name; `None` for an ideal clock.
    pub fn card(self, streams: &RandomStreams, link_name: &str) -> Option<CardClock> {
        (self == Self::Independent).then(|| CardClock {
            offset_ppb: self.offset_ppb(streams, link_name),
            seed: streams.stream(&format!("frames at {link_name}")).next_u64(),
        })
    }
}
