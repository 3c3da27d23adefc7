//! DIBS, Simple and Preemptive Deflection, AIFO and PABO as kinds of mechanisms, on the switches of the ports that
//! their entries name.

use std::collections::BTreeSet;

use hitless_core::wire::PortId;
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Header, Kind, Stage, Surroundings};
use hitless_scenario::network::topology::select::select_ports_by_switch;
use hitless_scenario::network::topology::{SwitchId, Topology};

use super::settings::{
    AifoSettings, DibsSettings, PaboSettings, PreemptiveDeflectionSettings, SimpleDeflectionSettings,
};
use super::{Aifo, Dibs, Pabo, PreemptiveDeflection, SimpleDeflection, check};
use crate::port_choice::{PortChoice, on_each_switch};

impl Dibs {
    fn port_choice(settings: &DibsSettings) -> PortChoice<'_> {
        PortChoice { name: Self::TITLE, ports: &settings.ports, deflects: true, sees_queues: true, sorts: false }
    }
}

impl Kind for Dibs {
    const NAME: &'static str = "dibs";
    const TITLE: &'static str = "DIBS";
    const SUMMARY: &'static str = "DIBS, packets of full queues detoured to a random neighbour, \
        on ports of switches (Zarifis et al., EuroSys 2014).";
    const STAGE: Stage = Stage::PortChoice;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared =
        &[super::counters::PortCounters::ALL, crate::detours::DetourCounters::ALL];
    const QUANTITIES: &'static [hitless_switch::Quantity] = &[crate::detours::PACKET_DETOURS];

    type Settings = DibsSettings;

    fn switches(settings: &DibsSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        Self::port_choice(settings).switches(topology)
    }

    fn claims(settings: &DibsSettings, topology: &Topology) -> Vec<Claimed> {
        Self::port_choice(settings).claims(topology)
    }

    fn headers(settings: &DibsSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        Self::port_choice(settings).headers()
    }

    fn check(settings: &DibsSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        Self::port_choice(settings).check(around.topology, section, check);
    }

    fn build(entries: &[&DibsSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &DibsSettings| select_ports_by_switch(around.topology, &settings.ports);
        Ok(on_each_switch(entries, ports, |settings, switch, relieved| {
            Self::new(relieved, settings, around.stream(switch, "dibs"))
        }))
    }
}

impl SimpleDeflection {
    fn port_choice(settings: &SimpleDeflectionSettings) -> PortChoice<'_> {
        PortChoice {
            name: Self::TITLE,
            ports: &settings.ports,
            deflects: true,
            sees_queues: check::sees_queues(settings.occupancy),
            sorts: false,
        }
    }
}

impl Kind for SimpleDeflection {
    const NAME: &'static str = "simple-deflection";
    const TITLE: &'static str = "Simple Deflection";
    const SUMMARY: &'static str = "Simple Deflection, DIBS as a programmable switch can do it, \
        on ports of switches (Abdous et al., CoNEXT 2023).";
    const STAGE: Stage = Stage::PortChoice;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared = &[
        super::counters::PortCounters::ALL,
        crate::detours::DetourCounters::ALL,
        super::occupancy::ControlCounters::ALL,
    ];
    const QUANTITIES: &'static [hitless_switch::Quantity] = super::occupancy::QUANTITIES;

    type Settings = SimpleDeflectionSettings;

    fn switches(settings: &SimpleDeflectionSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        Self::port_choice(settings).switches(topology)
    }

    fn claims(settings: &SimpleDeflectionSettings, topology: &Topology) -> Vec<Claimed> {
        Self::port_choice(settings).claims(topology)
    }

    fn headers(settings: &SimpleDeflectionSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        Self::port_choice(settings).headers()
    }

    fn check(settings: &SimpleDeflectionSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        Self::port_choice(settings).check(around.topology, section, check);
        check::simple_deflection(check, settings, section);
    }

    fn build(entries: &[&SimpleDeflectionSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &SimpleDeflectionSettings| select_ports_by_switch(around.topology, &settings.ports);
        Ok(on_each_switch(entries, ports, |settings, switch, relieved| {
            let stream = around.stream(switch, "simple deflection");
            Self::new(relieved, settings, recirculation_ports(around, switch), stream)
        }))
    }
}

impl PreemptiveDeflection {
    fn port_choice(settings: &PreemptiveDeflectionSettings) -> PortChoice<'_> {
        PortChoice {
            name: Self::TITLE,
            ports: &settings.ports,
            deflects: true,
            sees_queues: check::sees_queues(settings.occupancy) || check::has_exact_mean(settings),
            sorts: false,
        }
    }
}

impl Kind for PreemptiveDeflection {
    const NAME: &'static str = "preemptive-deflection";
    const TITLE: &'static str = "Preemptive Deflection";
    const SUMMARY: &'static str = "Preemptive Deflection, packets of low priority deflected early, \
        on ports of switches (Abdous et al., CoNEXT 2023).";
    const STAGE: Stage = Stage::PortChoice;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared = &[
        super::counters::PortCounters::ALL,
        crate::detours::DetourCounters::ALL,
        super::occupancy::ControlCounters::ALL,
    ];
    const QUANTITIES: &'static [hitless_switch::Quantity] = super::occupancy::QUANTITIES;

    type Settings = PreemptiveDeflectionSettings;

    fn switches(settings: &PreemptiveDeflectionSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        Self::port_choice(settings).switches(topology)
    }

    fn claims(settings: &PreemptiveDeflectionSettings, topology: &Topology) -> Vec<Claimed> {
        let mut claims = Self::port_choice(settings).claims(topology);
        let switches = Self::switches(settings, topology);
        claims.push(Claim::DropsEarly.on_switches(&switches));
        if check::carries_mean(settings) {
            claims.push(Claim::WritesOnPackets.on_switches(&switches));
        }
        claims
    }

    fn headers(settings: &PreemptiveDeflectionSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        Self::port_choice(settings).headers()
    }

    fn check(settings: &PreemptiveDeflectionSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        Self::port_choice(settings).check(around.topology, section, check);
        check::preemptive_deflection(check, settings, section);
    }

    fn build(entries: &[&PreemptiveDeflectionSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &PreemptiveDeflectionSettings| select_ports_by_switch(around.topology, &settings.ports);
        Ok(on_each_switch(entries, ports, |settings, switch, relieved| {
            let stream = around.stream(switch, "preemptive deflection");
            Self::new(&relieved, settings, recirculation_ports(around, switch), stream)
        }))
    }
}

impl Aifo {
    fn port_choice(settings: &AifoSettings) -> PortChoice<'_> {
        PortChoice { name: Self::TITLE, ports: &settings.ports, deflects: false, sees_queues: true, sorts: false }
    }
}

impl Kind for Aifo {
    const NAME: &'static str = "aifo";
    const TITLE: &'static str = "AIFO";
    const SUMMARY: &'static str = "AIFO, admission as if queues were sorted, \
        on ports of switches (Yu et al., SIGCOMM 2021).";
    const STAGE: Stage = Stage::PortChoice;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared = &[super::aifo::PortCounters::ALL];

    type Settings = AifoSettings;

    fn switches(settings: &AifoSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        Self::port_choice(settings).switches(topology)
    }

    fn claims(settings: &AifoSettings, topology: &Topology) -> Vec<Claimed> {
        let mut claims = Self::port_choice(settings).claims(topology);
        claims.push(Claim::DropsEarly.on_switches(&Self::switches(settings, topology)));
        claims
    }

    fn check(settings: &AifoSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        Self::port_choice(settings).check(around.topology, section, check);
        check::capacity(check, settings.capacity, section);
    }

    fn build(entries: &[&AifoSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &AifoSettings| select_ports_by_switch(around.topology, &settings.ports);
        Ok(on_each_switch(entries, ports, |settings, _, ports| Self::new(&ports, settings)))
    }
}

impl Pabo {
    fn port_choice(settings: &PaboSettings) -> PortChoice<'_> {
        PortChoice { name: Self::TITLE, ports: &settings.ports, deflects: true, sees_queues: true, sorts: false }
    }
}

impl Kind for Pabo {
    const NAME: &'static str = "pabo";
    const TITLE: &'static str = "PABO";
    const SUMMARY: &'static str = "PABO, packets of queues that fill up bounced back, \
        on ports of switches (Shi et al., ICC 2017).";
    const STAGE: Stage = Stage::PortChoice;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared =
        &[super::counters::PortCounters::ALL, crate::detours::DetourCounters::ALL];
    const QUANTITIES: &'static [hitless_switch::Quantity] = &[crate::detours::PACKET_DETOURS];

    type Settings = PaboSettings;

    fn switches(settings: &PaboSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        Self::port_choice(settings).switches(topology)
    }

    fn claims(settings: &PaboSettings, topology: &Topology) -> Vec<Claimed> {
        Self::port_choice(settings).claims(topology)
    }

    fn headers(settings: &PaboSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        Self::port_choice(settings).headers()
    }

    fn check(settings: &PaboSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        Self::port_choice(settings).check(around.topology, section, check);
        check::capacity(check, settings.capacity, section);
    }

    fn build(entries: &[&PaboSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &PaboSettings| select_ports_by_switch(around.topology, &settings.ports);
        Ok(on_each_switch(entries, ports, |settings, switch, relieved| {
            Self::new(relieved, settings, around.stream(switch, "pabo"))
        }))
    }
}

fn recirculation_ports(around: Surroundings<'_>, switch: SwitchId) -> Vec<PortId> {
    let numbers = 0..around.scenario.switch.recirculation_ports;
    numbers.map(|number| around.topology.recirculation_port(switch, number)).collect()
}
