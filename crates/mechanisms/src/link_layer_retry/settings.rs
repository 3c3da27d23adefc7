//! The profile of Link Layer Retry. Fields, ranges and meanings are those of SONiC's `LLR_PROFILE`.

use hitless_settings::quantity::Text;
use hitless_wire::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Link Layer Retry on one link in one direction. Both ends must be switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkLayerRetrySettings {
    /// The protected link and direction, "sw2->sw6": the first node is the sending switch.
    #[schemars(extend("x-required" = true))]
    pub link: String,
    /// Frames that may be unacknowledged: the size of the replay buffer. One for each 510 B of `max_outstanding_bytes`,
    /// as in SONiC's sample profiles.
    #[schemars(range(min = 1, max = 524_288), extend("x-default" = "by link rate and delay"))]
    pub max_outstanding_frames: u32,
    /// Bytes that may be unacknowledged; the last frame may be beyond. By link rate: 4,144 B and 159.04 B for each
    /// Gbps, which is SONiC's sample profiles for 200G and 400G with 40 m of cable; for longer links as much more as is
    /// on the way.
    #[schemars(extend("x-default" = "by link rate and delay"))]
    #[serde(with = "Text::<Bytes>")]
    pub max_outstanding_bytes: Bytes,
    /// Replays in a row that free no frame; one more, and the transmitter gives up what it holds (state FLUSH).
    #[schemars(range(min = 1, max = 255))]
    pub max_replay_count: u32,
    /// How long the transmitter waits for progress before it replays of its own accord. The transmitter also repeats
    /// LLR_INIT after this time, and stays in FLUSH for it. 5.5 us, and for links of more than 40 m as much more as the
    /// way there and back takes.
    #[schemars(extend("x-default" = "by link delay"))]
    #[serde(with = "Text::<Duration>")]
    pub max_replay_timer: Duration,
    /// How long the link may be down, as failure detection tells, before the transmitter gives up; zero: for ever.
    #[serde(with = "Text::<Duration>")]
    pub pcs_lost_timeout: Duration,
    /// How long a frame may be unacknowledged before the transmitter gives up; zero: for ever. 24 us, and for links of
    /// more than 40 m more.
    #[schemars(extend("x-default" = "by link delay"))]
    #[serde(with = "Text::<Duration>")]
    pub data_age_timeout: Duration,
    /// From one control ordered set to the next, in bytes of the line's time: 400 B to 16,384 B.
    #[serde(with = "Text::<Bytes>")]
    pub ctlos_spacing: Bytes,
    /// What becomes of frames before the receiver has answered LLR_INIT.
    pub init_action: LinkLayerRetryAction,
    /// What becomes of frames in state FLUSH.
    pub flush_action: LinkLayerRetryAction,
    /// Begin anew after FLUSH (SONiC always does). If not, nothing is protected any more; only with `flush_action`
    /// "best-effort", since no packet would cross the link otherwise.
    pub re_init_on_flush: bool,
}

/// What the transmitter does with frames while it does not number them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkLayerRetryAction {
    /// They are sent unprotected.
    BestEffort,
    /// They wait in their queues.
    Block,
    /// They are dropped.
    Discard,
}

impl Default for LinkLayerRetrySettings {
    fn default() -> Self {
        Self::for_link(BitRate::from_gbps(400), Duration::ZERO)
    }
}

impl LinkLayerRetrySettings {
    /// A profile for a link of `rate` with `delay`, after SONiC's samples: 200G, 40 m: 71 frames, 35,952 B; 400G, 40 m:
    /// 133 frames, 67,760 B, 5.5 us, 24 us. What the two have in common grows with the rate, the rest does not.
    pub fn for_link(rate: BitRate, delay: Duration) -> Self {
        const SAMPLE_CABLE: Duration = Duration::from_ns(200);
        const FIXED_BYTES: u64 = 4_144;
        const BYTES_PER_FRAME: u64 = 510;
        // 159.04 B per Gbps.
        const LOOP: Duration = Duration::from_ps(1_272_320);
        let farther = Duration::from_ps(delay.as_ps().saturating_sub(SAMPLE_CABLE.as_ps()) * 2);
        let bytes = FIXED_BYTES + rate.bytes_in(LOOP + farther).0;
        Self {
            link: String::new(),
            max_outstanding_frames: u32::try_from(bytes.div_ceil(BYTES_PER_FRAME)).unwrap_or(u32::MAX).min(524_288),
            max_outstanding_bytes: Bytes(bytes),
            max_replay_count: 3,
            max_replay_timer: Duration::from_ns(5_500) + farther,
            pcs_lost_timeout: Duration::from_us(55),
            data_age_timeout: Duration::from_us(24) + farther * 4,
            ctlos_spacing: Bytes(2_048),
            init_action: LinkLayerRetryAction::BestEffort,
            flush_action: LinkLayerRetryAction::BestEffort,
            re_init_on_flush: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_that_of_the_samples_and_grows_with_the_way() {
        let of = |gbps, delay_ns| {
            let made = LinkLayerRetrySettings::for_link(BitRate::from_gbps(gbps), Duration::from_ns(delay_ns));
            (made.max_outstanding_frames, made.max_outstanding_bytes.0, made.max_replay_timer)
        };
        let timer = Duration::from_ns(5_500);
        assert_eq!(of(400, 200), (133, 67_760, timer));
        assert_eq!(of(200, 50), (71, 35_952, timer));
        assert_eq!(of(100, 50), (40, 20_048, timer));
        assert_eq!(of(25, 50), (16, 8_120, timer));
        // A kilometre: 5 us there and 5 us back, less the cable of the sample.
        assert_eq!(of(100, 5_000), (275, 20_048 + 120_000, timer + Duration::from_ns(9_600)));
    }
}
