//! The end of a run with flow control: dropped lossless packets, and deadlocks.

use hitless_core::wire::PortId;

use super::edge::Edge;
use super::event_loop::Run;

impl<E: Edge> Run<E> {
    /// Lossless packets that were dropped although the headroom suffices.
    pub(super) fn lossless_violations(&self) -> Vec<String> {
        self.lossless_drops(true)
    }

    /// Lossless packets that were dropped for lack of headroom, and deadlocks.
    pub(super) fn lossless_warnings(&self) -> Vec<String> {
        let deadlocks = self
            .viewed(self.now, |view| view.deadlocks())
            .into_iter()
            .map(|cycle| format!("deadlock of flow control: {cycle}"));
        self.lossless_drops(false).into_iter().chain(deadlocks).collect()
    }

    fn lossless_drops(&self, is_guaranteed: bool) -> Vec<String> {
        let (scenario, topology) = (&self.global.scenario, &self.network.topology);
        let mut sentences = Vec::new();
        for (id, switch) in topology.switch_ids().zip(&self.network.switches) {
            for (number, port) in topology.switch(id).ports.iter().enumerate() {
                let number = PortId(number as u16);
                let control = switch.flow_control_of(number);
                let Some(control) = control.filter(|control| control.is_guaranteed == is_guaranteed) else { continue };
                for (class, drops) in switch.lossless_drops(number) {
                    let memory = if control.credits().is_some() {
                        format!("its partner had credits for {} B", control.headroom_bytes)
                    } else {
                        let needed = scenario.headroom_needed(topology, port).arithmetic();
                        format!("its headroom is {} B, and the link needs {needed}", control.headroom_bytes)
                    };
                    sentences.push(format!(
                        "{} dropped {drops} packets of the lossless class {class} that came from {}: {memory}",
                        topology.switch(id).name,
                        topology.link_name(port.link.reversed()),
                    ));
                }
            }
        }
        sentences
    }
}
