//! Fair queueing of some traffic classes of a port: AFQ's queues take the place of the queues of these classes, and the
//! other classes keep theirs. Weights charge the bytes of a class to its flows.

use hitless_core::settings::Problem;
use hitless_scenario::Check;
use hitless_scenario::network::switch::{SchedulerKind, SwitchSettings};
use hitless_scenario::network::topology::Topology;
use hitless_switch::{QueueConfig, QueueLimit};

use super::settings::AfqSettings;

/// Returns the fair-queued classes, one bit each. Classes without a separate queue follow the last class that has one.
pub fn bits(settings: &AfqSettings, switch: &SwitchSettings) -> u8 {
    let Some(listed) = &settings.classes else { return u8::MAX };
    (0..8).filter(|&class| listed.contains(&switch.queue_of_class(class))).fold(0, |bits, class| bits | 1 << class)
}

/// Returns the configuration of AFQ's queues: their level, and the quantum of all of them together, among the queues of
/// the port.
pub fn queue(settings: &AfqSettings, switch: &SwitchSettings) -> QueueConfig {
    let normal = QueueConfig::normal(QueueLimit::Unlimited);
    let Some(listed) = &settings.classes else { return normal };
    let first = listed.first().copied().unwrap_or(0);
    let level = if switch.scheduler == SchedulerKind::Strict { first } else { 0 };
    // Each replaced queue adds its turn.
    let quantum_bytes = (switch.drr_quantum.0 as u32).saturating_mul(listed.len() as u32);
    QueueConfig { quantum_bytes, ..normal.with_priority(QueueConfig::NORMAL_PRIORITY + level) }
}

/// Reports classes that cannot be fair queued at a switch of AFQ, and weights of classes that are not.
pub fn check(check: &mut Check<'_>, topology: &Topology, settings: &AfqSettings, section: &str) {
    let (scenario, before) = (check.scenario, check.found());
    for switch in scenario.switch.variants_at(topology, settings.ports_by_switch(topology).into_keys()) {
        if check.found() == before {
            check_at(check, &switch, settings, section);
        }
    }
}

fn check_at(check: &mut Check<'_>, switch: &SwitchSettings, settings: &AfqSettings, section: &str) {
    let Some(listed) = &settings.classes else { return };
    let field = format!("{section}.classes");
    check.require_else(!listed.is_empty(), || {
        Problem::new(&field, "", "is empty: no packet would be fair queued").hint("leave it out for all classes")
    });
    let count = switch.queue_count();
    let queueless = listed.last().copied().filter(|&class| class >= count);
    check.report_all(queueless.map(|class| {
        let rule = format!("class {class} has no separate queue: switch.queues_per_port is {count}");
        let hint = format!("take queues_per_port = {}, with scheduler = \"strict\" or \"drr\"", u16::from(class) + 1);
        Problem::new(&field, "", rule).hint(hint)
    }));
    let (first, last) = (listed.first().copied().unwrap_or(0), listed.last().copied().unwrap_or(0));
    let between = (first..last).find(|class| switch.scheduler == SchedulerKind::Strict && !listed.contains(class));
    check.report_all(between.map(|class| {
        let rule = format!(
            "class {class} is between them in the strict priority of the port, where AFQ's queues have one place"
        );
        Problem::new(&field, "", rule).hint("list neighbouring classes, or take switch.scheduler = \"drr\"")
    }));
    let fair = bits(settings, switch);
    for (class, &weight) in settings.class_weights.iter().enumerate() {
        check.require_else(weight == 1.0 || fair >> (class & 7) & 1 == 1, || {
            let rule = format!("class {class} is not among classes, so AFQ does not weigh it");
            Problem::new(format!("{section}.class_weights[{class}]"), weight.to_string(), rule).hint("take 1")
        });
    }
}

/// The weight of a class as a factor for charged bytes: 65,536 / weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge(u32);

impl Charge {
    /// The charge for weight 1: the bytes themselves.
    pub const WHOLE: Charge = Charge(1 << 16);

    /// The charge of a flow that may send `weight` times the bytes of a round in each round (1/1000 to 1000).
    pub fn for_weight(weight: f64) -> Self {
        assert!((0.001..=1_000.0).contains(&weight), "a weight is between 0.001 and 1000, not {weight}");
        Charge((65_536.0 / weight).round() as u32)
    }

    /// The bytes charged for a frame, at least 1.
    #[inline]
    pub fn of(self, frame_bytes: u32) -> u64 {
        if self == Self::WHOLE {
            return u64::from(frame_bytes);
        }
        // Rounded to the nearest byte. A charge of 0 would let a flow of small frames send without limit.
        ((u64::from(frame_bytes) * u64::from(self.0) + (1 << 15)) >> 16).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_is_the_frame_by_its_weight_rounded_and_at_least_a_byte() {
        let table = [(1.0, 1_518, 1_518), (2.0, 1_001, 501), (2.0, 1_000, 500), (3.0, 1_000, 333), (1_000.0, 64, 1)];
        for (weight, frame_bytes, charged) in table {
            assert_eq!(Charge::for_weight(weight).of(frame_bytes), charged, "{frame_bytes} bytes of weight {weight}");
        }
        assert_eq!(Charge::for_weight(0.001).of(1_000), 1_000_000);
    }
}
