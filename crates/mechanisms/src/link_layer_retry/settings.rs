//! The profile of Link Layer Retry. Fields, ranges and meanings follow SONiC's `LLR_PROFILE`.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MINIMUM_FRAME_BYTES};
use hitless_core::wire::{BitRate, Bytes, Duration};
use hitless_scenario::network::topology::LineRange;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Link Layer Retry on a link in one direction. Both ends must be switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkLayerRetrySettings {
    /// Protected link and direction, "sw2->sw6": the first node is the sending switch.
    #[schemars(extend("x-required" = true))]
    pub link: String,
    /// Maximum number of unacknowledged frames: the size of the replay buffer. One for each 84 B of
    /// `max_outstanding_bytes`, the minimum frame on the wire. SONiC's sample profiles have one for each 510 B, which
    /// throttles streams of smaller frames.
    #[schemars(range(min = 1, max = 524_288), extend("x-default" = "by link rate and delay"))]
    pub max_outstanding_frames: u32,
    /// Maximum unacknowledged bytes; the last frame may exceed it. 4,144 B plus 159.04 B for each Gbps, which
    /// reproduces SONiC's sample profiles for 200G and 400G with 40 m of cable; more for longer links, and below 200G
    /// for the longer time of a frame.
    #[schemars(extend("x-default" = "by link rate and delay"))]
    #[serde(with = "Text::<Bytes>")]
    pub max_outstanding_bytes: Bytes,
    /// Maximum number of consecutive replays that free no frame. After one more the transmitter gives up its frames
    /// (state FLUSH).
    #[schemars(range(min = 1, max = 255))]
    pub max_replay_count: u32,
    /// Time without progress after which the transmitter replays without a NACK. It also repeats LLR_INIT after this
    /// time, and stays in FLUSH for it. 5.5 us; longer for links longer than 40 m or slower than 200G.
    #[schemars(extend("x-default" = "by link rate and delay"))]
    #[serde(with = "Text::<Duration>")]
    pub max_replay_timer: Duration,
    /// Maximum outage of the link, as reported by failure detection, before the transmitter gives up; zero: no limit.
    #[serde(with = "Text::<Duration>")]
    pub pcs_lost_timeout: Duration,
    /// Maximum age of an unacknowledged frame before the transmitter gives up; zero: no limit. 24 us, scaled like
    /// `max_replay_timer`.
    #[schemars(extend("x-default" = "by link rate and delay"))]
    #[serde(with = "Text::<Duration>")]
    pub data_age_timeout: Duration,
    /// Spacing of control ordered sets, in bytes of line time: 400 B to 16,384 B.
    #[serde(with = "Text::<Bytes>")]
    pub ctlos_spacing: Bytes,
    /// Treatment of frames before the receiver has answered LLR_INIT.
    pub init_action: LinkLayerRetryAction,
    /// Treatment of frames in state FLUSH.
    pub flush_action: LinkLayerRetryAction,
    /// Start again after FLUSH (SONiC always does). Otherwise nothing is protected any more; only allowed with
    /// `flush_action` "best-effort", because no packet would cross the link otherwise.
    pub re_init_on_flush: bool,
    /// Refuse the link if losses cost more than 15 % of the line, because each loss resends all frames in flight.
    pub admission_control: bool,
}

/// Treatment of frames while the transmitter does not number them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkLayerRetryAction {
    /// Send them unprotected.
    BestEffort,
    /// Let them wait in their queues.
    Block,
    /// Drop them.
    Discard,
}

impl Default for LinkLayerRetrySettings {
    fn default() -> Self {
        Self::for_link(BitRate::from_gbps(400), Duration::ZERO)
    }
}

impl LinkLayerRetrySettings {
    /// A profile for a link with a rate and a delay that change during the run: the buffer of the highest rate, and
    /// times for a replay of this buffer at the lowest rate. Without changes it equals [`Self::for_link`].
    pub fn for_range(range: LineRange) -> Self {
        let of = |rate| Self::for_link(rate, range.longest_delay);
        let (slowest, fastest) = (of(range.lowest_rate), of(range.highest_rate));
        let time_of = |profile: &Self| range.lowest_rate.time_for(profile.max_outstanding_bytes.0);
        let longer = time_of(&fastest).saturating_sub(time_of(&slowest));
        let max_replay_timer = slowest.max_replay_timer + longer;
        let (max_outstanding_frames, max_outstanding_bytes) =
            (fastest.max_outstanding_frames, fastest.max_outstanding_bytes);
        let data_age_timeout = age_for(max_replay_timer);
        Self { max_outstanding_frames, max_outstanding_bytes, max_replay_timer, data_age_timeout, ..slowest }
    }

    /// A profile for a link of `rate` with `delay`, following SONiC's samples: 200G, 40 m: 35,952 B; 400G, 40 m: 67,760
    /// B; both 5.5 us and 24 us. One part grows with the rate, the other is fixed.
    ///
    /// The samples are for frames of up to 9,018 B. In a round trip such a frame delays three times (the frame itself,
    /// one before it, and one before its acknowledgement): below 200G that takes longer than in the samples.
    pub fn for_link(rate: BitRate, delay: Duration) -> Self {
        const SAMPLE_CABLE: Duration = Duration::from_ns(200);
        const SAMPLE_RATE: BitRate = BitRate::from_gbps(200);
        const JUMBO_BYTES: u64 = 9_018 + ETHERNET_OVERHEAD_BYTES as u64;
        const SMALLEST_BYTES: u64 = (MINIMUM_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES) as u64;
        const FRAMES_ON_THE_WAY: u64 = 3;
        const FIXED_BYTES: u64 = 4_144;
        // 159.04 B per Gbps.
        const LOOP: Duration = Duration::from_ps(1_272_320);
        let farther = delay.saturating_sub(SAMPLE_CABLE) * 2;
        let slower = rate.time_for(JUMBO_BYTES).saturating_sub(SAMPLE_RATE.time_for(JUMBO_BYTES)) * FRAMES_ON_THE_WAY;
        let bytes = FIXED_BYTES + rate.bytes_in(LOOP + farther + slower).0;
        let timer = TIMER + farther + slower;
        Self {
            link: String::new(),
            max_outstanding_frames: u32::try_from(bytes / SMALLEST_BYTES).unwrap_or(u32::MAX).min(524_288),
            max_outstanding_bytes: Bytes(bytes),
            max_replay_count: 3,
            max_replay_timer: timer,
            pcs_lost_timeout: Duration::from_us(55),
            data_age_timeout: age_for(timer),
            ctlos_spacing: Bytes(2_048),
            init_action: LinkLayerRetryAction::BestEffort,
            flush_action: LinkLayerRetryAction::BestEffort,
            re_init_on_flush: true,
            admission_control: true,
        }
    }
}

const TIMER: Duration = Duration::from_ns(5_500);
const AGE: Duration = Duration::from_us(24);

/// The maximum age of a frame with this replay timer.
fn age_for(timer: Duration) -> Duration {
    Duration((u128::from(timer.as_ps()) * u128::from(AGE.as_ps()) / u128::from(TIMER.as_ps())) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_that_of_the_samples_and_grows_with_the_way_and_the_time_of_a_frame() {
        let of = |gbps, delay_ns| {
            let made = LinkLayerRetrySettings::for_link(BitRate::from_gbps(gbps), Duration::from_ns(delay_ns));
            (made.max_outstanding_bytes.0, made.max_replay_timer, made.data_age_timeout)
        };
        let (timer, age) = (Duration::from_ns(5_500), Duration::from_us(24));
        assert_eq!(of(400, 200), (67_760, timer, age));
        assert_eq!(of(200, 50), (35_952, timer, age));
        // A kilometre: 5 us in each direction, less the cable of the sample.
        assert_eq!(of(400, 5_000).0, 67_760 + 480_000);
        assert_eq!(of(400, 5_000).1, timer + Duration::from_ns(9_600));
        // 9,038 B take 7.2304 us at 10G, and 0.36152 us at 200G.
        let slower = Duration::from_ps(3 * (7_230_400 - 361_520));
        assert_eq!(of(10, 50).0, 4_144 + 1_590 + 25_758);
        assert_eq!(of(10, 50).1, timer + slower);
        assert!(of(10, 50).2 > of(10, 50).1 * 4);
    }
}
