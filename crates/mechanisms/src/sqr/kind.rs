//! SQR as a kind of mechanism, on the switches at the sending ends of its links.

use std::collections::BTreeSet;

use crate::sqr::metadata::CacheMetadata;
use hitless_core::wire::PortId;
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Header, Kind, Reach, Stage, Surroundings};
use hitless_scenario::network::switch::hardware::architecture;
use hitless_scenario::network::topology::select::{SwitchPort, select_switch_ports};
use hitless_scenario::network::topology::{DirectedLink, Port, SwitchId, Topology};

use super::home::HOME_QUEUES;
use super::{RING_SHARE, RingShare, Sqr, SqrConfig, SqrSettings, check};

/// Room of a queue of the ring beyond twice the protected bytes, in frames of maximum size.
const ROOM_IN_FRAMES: u64 = 64;

impl Kind for Sqr {
    const NAME: &'static str = "sqr";
    const TITLE: &'static str = "SQR";
    const SUMMARY: &'static str = "SQR on the sending switches of some links (ICNP 2019).";
    const STAGE: Stage = Stage::Copies;
    const PLACES_FIELD: &'static str = "links";
    const COUNTERS: hitless_switch::Declared =
        &[super::counters::PortCounters::ALL, super::counters::CacheCounters::ALL];

    type Settings = SqrSettings;

    fn resolve(settings: &mut SqrSettings, around: Surroundings<'_>) {
        settings.resolve(around.scenario, around.topology);
    }

    fn switches(settings: &SqrSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        settings.switches(topology)
    }

    fn claims(settings: &SqrSettings, topology: &Topology) -> Vec<Claimed> {
        let switches = settings.switches(topology);
        vec![
            Claim::KeepsOrder.on_switches(&switches),
            Claim::SendsCopiesLate.on_switches(&switches),
            Claim::RedirectsAtEgress.on_links(&settings.protected(topology)),
        ]
    }

    fn headers(settings: &SqrSettings, around: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        let protected = settings.protected(around.topology).into_iter().filter_map(|link| around.sending_port(link));
        let at_port = |port| Header::of::<CacheMetadata>("SQR's copies", Reach::OneHop(vec![port]));
        protected.map(at_port).collect()
    }

    fn queues(_: &SqrSettings) -> u16 {
        1 + u16::from(HOME_QUEUES)
    }

    fn check(settings: &SqrSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check::check_entry(settings, around, section, check);
    }

    fn build(entries: &[&SqrSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let mut built = Built::new();
        for settings in entries {
            for switch in settings.switches(around.topology) {
                built.push((switch, Box::new(Self::new(config(settings, switch, around)?))));
            }
        }
        Ok(built)
    }
}

fn config(settings: &SqrSettings, switch: SwitchId, around: Surroundings<'_>) -> Result<SqrConfig, String> {
    let topology = around.topology;
    let here = |port: &SwitchPort| port.switch == switch;
    let senders = settings.protected(topology).into_iter().filter_map(|link| around.sending_port(link));
    let caching = settings.caching_ports.iter().map(|name| select_switch_ports(topology, name, 0));
    let caching = caching.collect::<Result<Vec<SwitchPort>, String>>()?;
    let numbers = |ports: &mut dyn Iterator<Item = SwitchPort>| ports.filter(here).map(|at| at.port).collect();
    let protected: Vec<PortId> = numbers(&mut senders.into_iter());
    Ok(SqrConfig {
        protected,
        line_ports: topology.switch(switch).ports.len() as u16,
        caching_ports: numbers(&mut caching.into_iter()),
        ring_shares: ring_shares(settings, switch, around),
        settings: SqrSettings {
            any_order: Some(settings.any_order(around)),
            any_order_age: settings.any_order_age(around),
            ..settings.clone()
        },
    })
}

/// Weights and limits of the ring, by port. Reading a copy takes time from other packets of the port: at 10G a tenth of
/// a frame's time, as the paper measured with queues of equal weight (figure 14). At other rates the weight limits the
/// ring to the same share. The lowest rate of the run counts: then every copy can be read in time.
fn ring_shares(settings: &SqrSettings, switch: SwitchId, around: Surroundings<'_>) -> Vec<RingShare> {
    let Surroundings { scenario, topology } = around;
    let protected = settings.protected(topology).into_iter();
    let own = protected.filter(|&link| topology.ends(link).0.node.switch() == Some(switch));
    let steady = settings.delays().0;
    let copied = |link: DirectedLink| topology.line_range(link).highest_rate.bytes_in(steady).0;
    let limit = own.map(copied).fold(0, u64::saturating_add).saturating_mul(2);
    let room = ROOM_IN_FRAMES * scenario.frame_max().0.max(u64::from(MTU_FRAME_BYTES));
    let limit_bytes = limit.saturating_add(room);
    let share = |port: &Port| {
        let rate_bps = topology.line_range(port.link).lowest_rate.as_bps();
        let reading_bps = architecture(&scenario.switch).buffer_read_rate.as_bps().max(rate_bps);
        // Reading this quantum takes at most a tenth of a full frame's time on the line, and thus 1/11 of a busy port.
        let quantum =
            u128::from(MTU_FRAME_BYTES) * u128::from(reading_bps) / (u128::from(RING_SHARE - 1) * u128::from(rate_bps));
        RingShare { quantum_bytes: quantum.clamp(1, u128::from(MTU_FRAME_BYTES)) as u32, limit_bytes }
    };
    topology.switch(switch).ports.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_world::triangle_with;

    const SQR: &str = r#"
    [[mechanism]]
    kind = "sqr"
    links = ["sw3->sw5", "sw3<->sw4"]
    classes = [1]
    ports = [5001, 80]
    vlans = [10]
    any_order = [0]
    any_order_age = "45 us"
    caching = "delay-queue"
    caching_ports = ["sw3->h", "sw3->sw4", "sw4->sw5"]
    steady_delay = "40 us"
    failure_delay = "900 us"
    clock_bits = 24
    utilization_window = "100 us"
    release = "when-rerouted"
    backstop = { pause = "9 MB", resume = "8 MB" }
    return_hold = "77 us"
    "#;

    #[test]
    fn every_parameter_of_sqr_reaches_the_switches_at_the_sending_ends() {
        let (scenario, topology) = triangle_with::<Sqr>(SQR);
        let around = Surroundings { scenario: &scenario, topology: &topology };
        let (_, settings) = around.entries::<SqrSettings>().next().expect("there is one entry");
        let at_sw3 = SqrConfig {
            protected: vec![PortId(2), PortId(1)],
            line_ports: 3,
            caching_ports: vec![PortId(0), PortId(1)],
            ring_shares: ring_shares(settings, SwitchId(0), around),
            settings: settings.clone(),
        };
        let at_sw4 = SqrConfig {
            protected: vec![PortId(1)],
            caching_ports: vec![PortId(2)],
            ring_shares: ring_shares(settings, SwitchId(1), around),
            ..at_sw3.clone()
        };
        let own = Sqr::switches(settings, &topology).into_iter();
        let configs: Vec<_> = own.map(|switch| (switch, config(settings, switch, around))).collect();
        assert_eq!(configs, [(SwitchId(0), Ok(at_sw3)), (SwitchId(1), Ok(at_sw4))]);
    }
}
