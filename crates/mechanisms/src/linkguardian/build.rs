//! LinkGuardian on the switches at both ends of its links.

use std::collections::BTreeMap;

use hitless_scenario::kind::{RecirculationLimit, Surroundings};
use hitless_scenario::network::topology::SwitchId;
use hitless_switch::LinkEnd;

use super::protected_ends::{ProtectedEnd, protected_ends};
use super::{LinkGuardian, LinkGuardianSettings, Mode, ReceiverConfig, SenderConfig};

/// Builds LinkGuardian for all entries, by switch.
///
/// # Errors A sentence, if the switches have no recirculation ports.
pub fn build(around: Surroundings<'_>) -> Result<BTreeMap<SwitchId, LinkGuardian>, String> {
    if around.scenario.switch.recirculation_ports == 0 {
        return Err("a protected link needs recirculation ports: [switch] recirculation_ports is 0".into());
    }
    let mut guardians = BTreeMap::<SwitchId, LinkGuardian>::new();
    for end in protected_ends(around) {
        add_end(guardians.entry(end.switch).or_default(), &end, around);
    }
    Ok(guardians)
}

fn add_end(guardian: &mut LinkGuardian, protected: &ProtectedEnd<'_>, around: Surroundings<'_>) {
    let settings = protected.settings;
    let recirculation_port = around.topology.recirculation_port(protected.switch, protected.recirculation);
    let port = protected.at.port;
    for (channel, classes) in channels(settings) {
        match protected.end {
            LinkEnd::Sender => {
                let mode = if channel == 0 { settings.mode } else { Mode::NonBlocking };
                let config = SenderConfig::new(settings, port, recirculation_port);
                guardian.add_sender(SenderConfig { channel, classes, mode, ..config });
            }
            LinkEnd::Receiver => {
                let sender = around.scenario.switch.of_sender(around.topology, protected.link);
                let paused_classes = sender.classes_of_distinct_queues(classes);
                // Only one channel judges the link's losses.
                let fallback = settings.fallback.filter(|_| channel == 0);
                let config = ReceiverConfig::new(settings, port, recirculation_port);
                guardian.add_receiver(ReceiverConfig { channel, paused_classes, fallback, ..config });
            }
        }
    }
}

/// Maximum contents of the recirculation ports of both ends.
pub fn recirculation_limits(around: Surroundings<'_>) -> Vec<RecirculationLimit> {
    let limit =
        |end: ProtectedEnd<'_>| RecirculationLimit { switch: end.switch, port: end.recirculation, most: end.room() };
    protected_ends(around).into_iter().map(limit).collect()
}

/// The sequence spaces of a link, each with its traffic classes, one bit each.
fn channels(settings: &LinkGuardianSettings) -> impl Iterator<Item = (u8, u8)> {
    let unordered = settings.non_blocking_classes.iter().fold(0, |classes: u8, class| classes | 1 << (class & 7));
    let second = (unordered != 0).then_some((1, unordered));
    std::iter::once((0, !unordered)).chain(second)
}
