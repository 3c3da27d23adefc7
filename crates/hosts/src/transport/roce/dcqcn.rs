//! DCQCN: the rate of a connection under congestion notifications (Zhu et al., "Congestion Control for Large-Scale
//! RDMA Deployments", SIGCOMM 2015, sections 3 and 5; names of parameters as there).
//!
//! The receiving card answers marked packets with notifications (CNPs), at most one in an interval. Each cuts the
//! sending card's rate by a share that grows with how often they come; without them the rate climbs back, first half
//! the way to where it was, then by a step, then by a larger one. Before the first cut a connection sends at line rate.
//!
//! Nothing here sets a timer: what timers would have done by now is done when the rate is asked for.

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::{BitRate, Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Named sets of parameters.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value,
)]
#[serde(rename_all = "kebab-case")]
pub enum DcqcnPreset {
    /// Those of the paper, section 5.
    #[default]
    Paper,
    /// What HPCC's authors compare with as deployed (SIGCOMM 2019, section 5.1): run.py of their repository,
    /// `--cc dcqcn`, which models ConnectX cards.
    Vendor,
}

/// When alpha moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
pub enum AlphaUpdate {
    /// Up with each notification, and down when there was none for `alpha_timer` (the paper, section 3.1).
    AtNotifications,
    /// Once in each `alpha_timer`: up if there was a notification in it, else down (NVIDIA, DOCA 3.4, "DCQCN CC
    /// Parameters": dce_tcp_rtt).
    Periodic,
}

/// Parameters of DCQCN, by the paper's names; defaults are those of `preset`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct DcqcnSettings {
    /// Where the values come from that are left out. `dcqcn = "vendor"` is `dcqcn = { preset = "vendor" }`.
    pub preset: DcqcnPreset,
    /// N: the receiver sends at most one notification of a connection in this time.
    #[serde(with = "Text::<Duration>")]
    pub cnp_interval: Duration,
    /// g: weight of a notification in the estimate alpha, by which the rate is cut.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub g: f64,
    /// Alpha at the first notification.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub initial_alpha: f64,
    /// When alpha moves.
    pub alpha_update: AlphaUpdate,
    /// K: alpha decays when there was no notification for this long; above `cnp_interval`. With `alpha_update =
    /// "periodic"` the time between two updates.
    #[serde(with = "Text::<Duration>")]
    pub alpha_timer: Duration,
    /// The rate is cut at most once in this time; a notification that comes sooner cuts it at the end of it. 0 s: each
    /// notification cuts.
    #[serde(with = "Text::<Duration>")]
    pub decrease_interval: Duration,
    /// Each cut sets the target to the rate before it. Otherwise a cut before the timer has raised the rate leaves the
    /// target where it was.
    pub clamp_target: bool,
    /// T: the rate is raised once in this time.
    #[serde(with = "Text::<Duration>")]
    pub rate_timer: Duration,
    /// B: and once for this many bytes sent; 0 B: by the timer only, which then decides alone which step is taken.
    #[serde(with = "Text::<Bytes>")]
    pub byte_counter: Bytes,
    /// F: the raise of either kind with which the additive increase begins. Those before it only recover the rate from
    /// before the cut.
    #[schemars(range(min = 1, max = 1000))]
    pub fast_recovery_steps: u32,
    /// R_AI: step of the additive increase.
    #[serde(with = "Text::<BitRate>")]
    pub additive_increase: BitRate,
    /// R_HAI: step of the hyper increase. The paper gives no value: five steps of the additive one.
    #[serde(with = "Text::<BitRate>")]
    pub hyper_increase: BitRate,
    /// Line rate that both steps are given for; on another line they are longer or shorter in proportion. Left out:
    /// they are as given.
    #[serde(with = "Optional::<BitRate>", skip_serializing_if = "Option::is_none")]
    pub increase_line_rate: Option<BitRate>,
    /// No cut goes below this. The paper gives none.
    #[serde(with = "Text::<BitRate>")]
    pub minimum_rate: BitRate,
}

/// The ways to write `dcqcn`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub(super) enum DcqcnChoice {
    /// A preset, with other values for some parameters.
    Parameters(DcqcnSettings),
    /// A preset as it is.
    Preset(DcqcnPreset),
}

const MEGABIT: u64 = 1_000_000;

const fn megabits_per_second(count: u64) -> BitRate {
    match BitRate::from_bps(count * MEGABIT) {
        Some(rate) => rate,
        None => panic!("a rate of zero"),
    }
}

impl Default for DcqcnSettings {
    fn default() -> Self {
        Self {
            preset: DcqcnPreset::Paper,
            cnp_interval: Duration::from_us(50),
            g: 1.0 / 256.0,
            // Section 3.1: the first notification halves the rate.
            initial_alpha: 1.0,
            alpha_update: AlphaUpdate::AtNotifications,
            alpha_timer: Duration::from_us(55),
            decrease_interval: Duration::ZERO,
            clamp_target: true,
            rate_timer: Duration::from_us(55),
            byte_counter: Bytes(10_000_000),
            fast_recovery_steps: 5,
            additive_increase: megabits_per_second(40),
            hyper_increase: megabits_per_second(200),
            increase_line_rate: None,
            minimum_rate: megabits_per_second(10),
        }
    }
}

impl DcqcnSettings {
    /// The parameters of a preset.
    pub fn of(preset: DcqcnPreset) -> Self {
        match preset {
            DcqcnPreset::Paper => Self::default(),
            DcqcnPreset::Vendor => Self {
                preset,
                // There each acknowledgement of a marked packet notifies.
                cnp_interval: Duration::ZERO,
                alpha_update: AlphaUpdate::Periodic,
                alpha_timer: Duration::from_us(1),
                decrease_interval: Duration::from_us(4),
                clamp_target: false,
                rate_timer: Duration::from_us(300),
                byte_counter: Bytes::ZERO,
                // FAST_RECOVERY_TIMES 1, compared before it counts: one raise recovers.
                fast_recovery_steps: 2,
                additive_increase: megabits_per_second(5),
                hyper_increase: megabits_per_second(50),
                increase_line_rate: Some(BitRate::from_gbps(25)),
                minimum_rate: megabits_per_second(1_000),
                ..Self::default()
            },
        }
    }
}

/// The reaction point: rate, target and what raises them.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct ReactionPoint {
    config: DcqcnSettings,
    line_bps: f64,
    /// R_AI and R_HAI on this line.
    steps_bps: [f64; 2],
    /// R_C.
    rate_bps: f64,
    /// R_T.
    target_bps: f64,
    /// alpha.
    alpha: f64,
    /// When alpha moves next without a notification; [`Time::NEVER`] before the first.
    alpha_moves_at: Time,
    /// A notification has come since alpha last moved.
    is_notified: bool,
    /// When the rate may be cut again; none before the first cut.
    next_cut_at: Option<Time>,
    /// A notification came before the rate might be cut.
    cut_is_owed: bool,
    /// When the timer raises the rate next.
    timer_ends_at: Time,
    /// T of algorithm 1: raises by the timer since the last cut.
    timer_raises: u32,
    /// BC: raises by the byte counter.
    byte_raises: u32,
    /// Bytes until the byte counter raises the rate next.
    bytes_left: u64,
}

/// Below this alpha cuts nothing, and is not counted down any more.
const LEAST_ALPHA: f64 = 1e-15;

impl ReactionPoint {
    /// A connection of a card that sends at `line_rate`.
    pub fn new(config: DcqcnSettings, line_rate: BitRate) -> Self {
        let line_bps = line_rate.as_bps() as f64;
        let scale = config.increase_line_rate.map_or(1.0, |rate| line_bps / rate.as_bps() as f64);
        let steps = [config.additive_increase, config.hyper_increase];
        Self {
            config,
            line_bps,
            steps_bps: steps.map(|step| step.as_bps() as f64 * scale),
            rate_bps: line_bps,
            target_bps: line_bps,
            alpha: config.initial_alpha,
            alpha_moves_at: Time::NEVER,
            is_notified: false,
            next_cut_at: None,
            cut_is_owed: false,
            timer_ends_at: Time::NEVER,
            timer_raises: 0,
            byte_raises: 0,
            bytes_left: config.byte_counter.0,
        }
    }

    /// The rate at `now`, in bits per second on the wire; `None` at line rate.
    pub fn rate(&mut self, now: Time) -> Option<BitRate> {
        self.advance(now);
        if self.rate_bps >= self.line_bps { None } else { BitRate::from_bps(self.rate_bps as u64) }
    }

    /// When the rate will rise by the timer; [`Time::NEVER`] at line rate.
    pub fn rises_at(&self) -> Time {
        if self.is_at_line_rate() { Time::NEVER } else { self.timer_ends_at }
    }

    /// The rate is never above the target.
    fn is_at_line_rate(&self) -> bool {
        self.rate_bps >= self.line_bps
    }

    /// A notification has come (section 3.1, equation 1).
    pub fn cut(&mut self, now: Time) {
        self.advance(now);
        if self.next_cut_at.is_some_and(|at| now < at) {
            self.cut_is_owed = true;
        } else {
            self.decrease(now);
        }
        match self.config.alpha_update {
            AlphaUpdate::AtNotifications => {
                self.move_alpha(true);
                self.alpha_moves_at = now + self.config.alpha_timer;
            }
            AlphaUpdate::Periodic if self.alpha_moves_at == Time::NEVER => {
                self.alpha_moves_at = now + self.config.alpha_timer;
            }
            AlphaUpdate::Periodic => self.is_notified = true,
        }
    }

    fn decrease(&mut self, now: Time) {
        if self.config.clamp_target || self.timer_raises > 0 || self.next_cut_at.is_none() {
            self.target_bps = self.rate_bps;
        }
        let least_bps = self.config.minimum_rate.as_bps() as f64;
        self.rate_bps = (self.rate_bps * (1.0 - self.alpha / 2.0)).max(least_bps.min(self.line_bps));
        self.next_cut_at = Some(now + self.config.decrease_interval);
        self.cut_is_owed = false;
        self.timer_ends_at = now + self.config.rate_timer;
        (self.timer_raises, self.byte_raises) = (0, 0);
        self.bytes_left = self.config.byte_counter.0;
    }

    /// Section 3.1, equations 1 and 2.
    fn move_alpha(&mut self, was_notified: bool) {
        self.alpha *= 1.0 - self.config.g;
        self.alpha += if was_notified { self.config.g } else { 0.0 };
    }

    /// `bytes` were sent.
    pub fn sent(&mut self, now: Time, bytes: u64) {
        self.advance(now);
        if self.is_at_line_rate() || self.config.byte_counter == Bytes::ZERO {
            return;
        }
        let mut bytes = bytes;
        while bytes >= self.bytes_left {
            bytes -= self.bytes_left;
            self.bytes_left = self.config.byte_counter.0;
            self.byte_raises += 1;
            self.raise();
        }
        self.bytes_left -= bytes;
    }

    /// Does what the timers have done by `now`: first what is due first, and of what is due at once alpha before a cut
    /// and a cut before a raise.
    fn advance(&mut self, now: Time) {
        loop {
            let cut_at = self.next_cut_at.filter(|_| self.cut_is_owed).unwrap_or(Time::NEVER);
            let raise_at = self.rises_at();
            let next = self.alpha_moves_at.min(cut_at).min(raise_at);
            if next > now {
                return;
            }
            if self.alpha_moves_at == next {
                self.alpha_is_due();
            } else if cut_at == next {
                self.decrease(next);
            } else {
                self.timer_ends_at += self.config.rate_timer;
                self.timer_raises += 1;
                self.raise();
            }
        }
    }

    fn alpha_is_due(&mut self) {
        let was_notified = std::mem::take(&mut self.is_notified);
        self.move_alpha(was_notified);
        self.alpha_moves_at =
            if self.alpha < LEAST_ALPHA { Time::NEVER } else { self.alpha_moves_at + self.config.alpha_timer };
    }

    /// Section 3.1, algorithm 1.
    fn raise(&mut self) {
        let steps = self.config.fast_recovery_steps;
        let has_bytes = self.config.byte_counter > Bytes::ZERO;
        let fewest = if has_bytes { self.timer_raises.min(self.byte_raises) } else { self.timer_raises };
        let [additive_bps, hyper_bps] = self.steps_bps;
        let step_bps = if self.timer_raises.max(self.byte_raises) < steps {
            0.0
        } else if fewest > steps {
            hyper_bps
        } else {
            additive_bps
        };
        self.target_bps = (self.target_bps + step_bps).min(self.line_bps);
        self.rate_bps = (self.rate_bps + self.target_bps) / 2.0;
        // Halving the way for ever never arrives: less than a bit per second is none.
        if self.target_bps - self.rate_bps < 1.0 {
            self.rate_bps = self.target_bps;
        }
    }
}

/// The notification point: at most one notification an interval, if any packet of the interval was marked (section
/// 3.1).
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct NotificationPoint {
    interval: Duration,
    /// No notification before this.
    next_at: Time,
    /// A packet was marked since the last one.
    is_owed: bool,
}

impl NotificationPoint {
    /// A connection that has notified of nothing.
    pub fn new(config: &DcqcnSettings) -> Self {
        Self { interval: config.cnp_interval, next_at: Time::ZERO, is_owed: false }
    }

    /// A marked packet has come; returns whether to send a notification now.
    pub fn marked(&mut self, now: Time) -> bool {
        self.is_owed = true;
        self.is_due(now)
    }

    /// Whether to send a notification now.
    pub fn is_due(&mut self, now: Time) -> bool {
        let is_due = self.is_owed && now >= self.next_at;
        if is_due {
            (self.is_owed, self.next_at) = (false, now + self.interval);
        }
        is_due
    }

    /// When the next one is due; never as long as nothing is marked.
    pub fn due_at(&self) -> Time {
        if self.is_owed { self.next_at } else { Time::NEVER }
    }
}

#[cfg(test)]
mod tests;
