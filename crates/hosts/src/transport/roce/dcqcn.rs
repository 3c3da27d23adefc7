//! DCQCN: rate control of a connection by congestion notifications (Zhu et al., "Congestion Control for Large-Scale
//! RDMA Deployments", SIGCOMM 2015, sections 3 and 5; parameters are named as there).
//!
//! The receiving card answers marked packets with notifications (CNPs), at most one per interval. Each notification
//! cuts the sending card's rate by a fraction that grows with their frequency. Without notifications the rate recovers:
//! first by half of the distance to the old rate, then by a fixed step, then by a larger step. Before the first cut a
//! connection sends at line rate.
//!
//! No timer is set here: actions of timers are caught up on when the rate is read.

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
    /// The values of the paper, section 5.
    #[default]
    Paper,
    /// The deployed values that HPCC's authors compare with (SIGCOMM 2019, section 5.1): run.py of their repository,
    /// `--cc dcqcn`, which models ConnectX cards.
    Vendor,
}

/// The time of updates to alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
pub enum AlphaUpdate {
    /// Up at each notification, and down if there was none for `alpha_timer` (the paper, section 3.1).
    AtNotifications,
    /// Once per `alpha_timer`: up if there was a notification in it, down otherwise (NVIDIA, DOCA 3.4, "DCQCN CC
    /// Parameters": dce_tcp_rtt).
    Periodic,
}

/// Settings of DCQCN, named as in the paper; defaults are those of `preset`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct DcqcnSettings {
    /// Preset for omitted values. `dcqcn = "vendor"` is short for `dcqcn = { preset = "vendor" }`.
    pub preset: DcqcnPreset,
    /// N: minimum time between two notifications of a connection.
    #[serde(with = "Text::<Duration>")]
    pub cnp_interval: Duration,
    /// g: weight of a notification in the estimate alpha, which determines the cut of the rate.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub g: f64,
    /// Alpha at the first notification.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub initial_alpha: f64,
    /// Time of updates to alpha.
    pub alpha_update: AlphaUpdate,
    /// K: time without a notification after which alpha decays; above `cnp_interval`. With `alpha_update = "periodic"`,
    /// the time between two updates.
    #[serde(with = "Text::<Duration>")]
    pub alpha_timer: Duration,
    /// Minimum time between two cuts of the rate; an earlier notification cuts it at the end of this time. With 0 s
    /// each notification cuts.
    #[serde(with = "Text::<Duration>")]
    pub decrease_interval: Duration,
    /// Whether each cut sets the target to the rate before it. Otherwise a cut before the timer has raised the rate
    /// leaves the target unchanged.
    pub clamp_target: bool,
    /// T: time between two increases of the rate.
    #[serde(with = "Text::<Duration>")]
    pub rate_timer: Duration,
    /// B: number of sent bytes that causes a further increase. With 0 B only the timer causes increases and selects the
    /// step.
    #[serde(with = "Text::<Bytes>")]
    pub byte_counter: Bytes,
    /// F: the number of an increase, by either cause, that starts the additive increase. Earlier increases only recover
    /// the rate from before the cut.
    #[schemars(range(min = 1, max = 1000))]
    pub fast_recovery_steps: u32,
    /// R_AI: step of the additive increase.
    #[serde(with = "Text::<BitRate>")]
    pub additive_increase: BitRate,
    /// R_HAI: step of the hyper increase. The paper gives no value; the default is five additive steps.
    #[serde(with = "Text::<BitRate>")]
    pub hyper_increase: BitRate,
    /// Line rate that both steps refer to; on other lines they are scaled in proportion. By default they are not
    /// scaled.
    #[serde(with = "Optional::<BitRate>", skip_serializing_if = "Option::is_none")]
    pub increase_line_rate: Option<BitRate>,
    /// Minimum rate after a cut. The paper gives no value.
    #[serde(with = "Text::<BitRate>")]
    pub minimum_rate: BitRate,
}

/// The syntax of `dcqcn`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub(super) enum DcqcnChoice {
    /// A preset, with changes to some parameters.
    Parameters(DcqcnSettings),
    /// A preset without changes.
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
    pub fn of(preset: DcqcnPreset) -> Self {
        match preset {
            DcqcnPreset::Paper => Self::default(),
            DcqcnPreset::Vendor => Self {
                preset,
                // There, each acknowledgement of a marked packet is a notification.
                cnp_interval: Duration::ZERO,
                alpha_update: AlphaUpdate::Periodic,
                alpha_timer: Duration::from_us(1),
                decrease_interval: Duration::from_us(4),
                clamp_target: false,
                rate_timer: Duration::from_us(300),
                byte_counter: Bytes::ZERO,
                // FAST_RECOVERY_TIMES is 1 and is compared before counting, so one increase recovers.
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

/// The reaction point: the rate, its target, and the causes of increases.
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
    /// Time of the next update of alpha without a notification; [`Time::NEVER`] before the first.
    alpha_moves_at: Time,
    /// Whether a notification has arrived since the last update of alpha.
    is_notified: bool,
    /// Earliest time of the next cut; `None` before the first.
    next_cut_at: Option<Time>,
    /// Whether a notification arrived too early for a cut.
    cut_is_owed: bool,
    /// Time of the next increase by the timer.
    timer_ends_at: Time,
    /// T of algorithm 1: increases by the timer since the last cut.
    timer_raises: u32,
    /// BC: increases by the byte counter.
    byte_raises: u32,
    /// Bytes until the next increase by the byte counter.
    bytes_left: u64,
}

/// Below this value alpha has no effect, and its decay stops.
const LEAST_ALPHA: f64 = 1e-15;

impl ReactionPoint {
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

    /// Returns the rate at `now`, in bits per second on the wire; `None` at line rate.
    pub fn rate(&mut self, now: Time) -> Option<BitRate> {
        self.advance(now);
        if self.rate_bps >= self.line_bps { None } else { BitRate::from_bps(self.rate_bps as u64) }
    }

    /// Returns the time of the next increase by the timer; [`Time::NEVER`] at line rate.
    pub fn rises_at(&self) -> Time {
        if self.is_at_line_rate() { Time::NEVER } else { self.timer_ends_at }
    }

    /// The rate is never above the target.
    fn is_at_line_rate(&self) -> bool {
        self.rate_bps >= self.line_bps
    }

    /// Handles a notification (section 3.1, equation 1).
    pub fn cut(&mut self, now: Time) {
        self.advance(now);
        // Equation 1 cuts with the old alpha, and updates alpha then.
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
        // The line itself can be slower than the minimum rate.
        let least_bps = self.config.minimum_rate.as_bps() as f64;
        self.rate_bps = (self.rate_bps * (1.0 - self.alpha / 2.0)).max(least_bps.min(self.line_bps));
        self.next_cut_at = Some(now + self.config.decrease_interval);
        self.cut_is_owed = false;
        self.timer_ends_at = now + self.config.rate_timer;
        (self.timer_raises, self.byte_raises) = (0, 0);
        self.bytes_left = self.config.byte_counter.0;
    }

    /// Updates alpha (section 3.1, equations 1 and 2).
    fn move_alpha(&mut self, was_notified: bool) {
        self.alpha *= 1.0 - self.config.g;
        self.alpha += if was_notified { self.config.g } else { 0.0 };
    }

    pub fn sent(&mut self, now: Time, bytes: u64) {
        self.advance(now);
        if self.is_at_line_rate() || self.config.byte_counter == Bytes::ZERO {
            return;
        }
        let mut bytes = bytes;
        // A large burst can cause several increases.
        while bytes >= self.bytes_left {
            bytes -= self.bytes_left;
            self.bytes_left = self.config.byte_counter.0;
            self.byte_raises += 1;
            self.raise();
        }
        self.bytes_left -= bytes;
    }

    /// Catches up on the timers until `now`, in order of time; simultaneously, alpha precedes a cut, and a cut an
    /// increase.
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

    /// Increases the rate (section 3.1, algorithm 1).
    fn raise(&mut self) {
        let steps = self.config.fast_recovery_steps;
        let has_bytes = self.config.byte_counter > Bytes::ZERO;
        // Algorithm 1: fast recovery while both counters are below F, hyper increase once both exceed F, additive
        // increase otherwise.
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
        // Halving the distance never reaches the target, so a distance below 1 bit/s counts as zero.
        if self.target_bps - self.rate_bps < 1.0 {
            self.rate_bps = self.target_bps;
        }
    }
}

/// The notification point: at most one notification per interval, if any of its packets was marked (section 3.1).
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct NotificationPoint {
    interval: Duration,
    /// Earliest time of the next notification.
    next_at: Time,
    /// Whether a packet was marked since the last notification.
    is_owed: bool,
}

impl NotificationPoint {
    pub fn new(config: &DcqcnSettings) -> Self {
        Self { interval: config.cnp_interval, next_at: Time::ZERO, is_owed: false }
    }

    /// Handles a marked packet; returns whether to send a notification now.
    pub fn marked(&mut self, now: Time) -> bool {
        self.is_owed = true;
        self.take_due(now)
    }

    /// Takes the notification that is due; returns whether to send it now.
    pub fn take_due(&mut self, now: Time) -> bool {
        let is_due = self.is_owed && now >= self.next_at;
        if is_due {
            (self.is_owed, self.next_at) = (false, now + self.interval);
        }
        is_due
    }

    /// Returns when the next notification is due; [`Time::NEVER`] without a marked packet.
    pub fn due_at(&self) -> Time {
        if self.is_owed { self.next_at } else { Time::NEVER }
    }
}

#[cfg(test)]
mod tests;
