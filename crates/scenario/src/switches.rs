//! The switches of a scenario, ready to run.

use crate::network::routing::PathRule;
use crate::network::switch::hardware;
use crate::network::topology::{SwitchId, Topology};
use hitless_core::engine::RandomStreams;
use hitless_core::wire::Bytes;
use hitless_switch::{Mechanism, PortConfig, Switch};
use rand::Rng;

use crate::Scenario;

/// The switch `id`, with `mechanisms` in the order of their hooks. `recirculation_limits` say by recirculation port
/// what its queue may hold.
pub fn switch(
    scenario: &Scenario,
    topology: &Topology,
    id: SwitchId,
    streams: &RandomStreams,
    recirculation_limits: &[Option<Bytes>],
    mechanisms: Vec<Box<dyn Mechanism>>,
) -> Switch {
    let settings = &scenario.switch;
    let ports = topology.switch(id).ports.iter().map(|port| {
        let link = topology.link(port.link.link).settings;
        let settings = settings.of_port(topology, id, port);
        let by_flow = settings.flow_queueing.as_ref().map(|queueing| {
            let stream = format!("flow hash at link {}", port.link.index());
            hardware::discipline(queueing, scenario.frame_max(), streams.stream(&stream).next_u64() as u32)
        });
        let marking = || streams.stream(&format!("marking at link {}", port.link.index()));
        PortConfig {
            faces_switch: port.faces_switch(),
            line: port.link.index() as u32,
            clock_offset_ppb: scenario.clocks.offset_ppb(streams, &topology.link_name(port.link)),
            flow_queueing: by_flow,
            ..hardware::port(&settings, link.rate, link.overhead_bytes, marking)
        }
    });
    let recirculation = recirculation_limits.iter().map(|limit| hardware::recirculation_port(settings, *limit));
    let ports = ports.chain(recirculation).collect();
    let mut switch =
        Switch::new(hardware::architecture(settings), ports, hardware::buffer_policy(settings), mechanisms);
    if scenario.routing.choice == PathRule::TwoChoices {
        switch.choose_of_two(streams.stream(&format!("next hops at switch {}", id.0)));
    }
    switch
}
