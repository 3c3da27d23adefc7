//! Computes the switch resources that the mechanisms of a scenario need, without running it.

use hitless_core::engine::RandomStreams;
use hitless_core::settings::Problem;
use hitless_core::wire::BitRate;
use hitless_switch::{Budget, Counter, Footprint, Half, Kept, RegisterUse, ResourceCounters, Resources};
use serde_json::{Map, Value, json};

use crate::network::topology::SwitchId;
use crate::{Scenario, plan};

/// A set of switches with equal requirements of their mechanisms.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchResources {
    pub switches: Vec<String>,
    /// Requirements of each mechanism, with their sums as numbers.
    pub mechanisms: Vec<(Resources, Footprint)>,
    pub sum: Footprint,
    /// Available resources; `None` for no limit.
    pub budget: Option<Budget>,
    /// Resources that are short.
    pub shortages: Vec<Shortage>,
}

/// A resource that is short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    pub what: &'static str,
    /// Total requirement.
    pub needed: u64,
    pub available: u64,
    /// Requirement of each mechanism.
    pub taken: Vec<(&'static str, u64)>,
}

/// Returns the requirements of all switches that run a mechanism.
pub fn survey(scenario: &Scenario) -> Result<Vec<SwitchResources>, String> {
    let topology = scenario.build_topology()?;
    let streams = RandomStreams::new(scenario.seed);
    let plan = plan::plan(scenario, &topology)?;
    let mut kinds: Vec<SwitchResources> = Vec::new();
    for (number, mechanisms) in plan.mechanisms.into_iter().enumerate() {
        if mechanisms.is_empty() {
            continue;
        }
        let id = SwitchId(number as u32);
        let limits = &plan.recirculation_limits[number];
        let switch = plan::switch(scenario, &topology, id, &streams, limits, mechanisms);
        let (budget, sum) = (switch.budget(), switch.footprint());
        let each = switch.resources().into_iter().map(|of| (Footprint::of(&of, &budget), of));
        let mut found = SwitchResources {
            switches: vec![topology.switch(id).name.clone()],
            mechanisms: each.map(|(footprint, of)| (of, footprint)).collect(),
            sum,
            budget: switch.architecture().budget,
            shortages: Vec::new(),
        };
        found.shortages = found.shortages_at(switch.architecture().recirculation_rate);
        match kinds.iter_mut().find(|known| known.is_like(&found)) {
            Some(known) => known.switches.append(&mut found.switches),
            None => kinds.push(found),
        }
    }
    Ok(kinds)
}

impl SwitchResources {
    pub fn as_json(&self) -> Value {
        let mechanism = |(of, numbers): &(Resources, Footprint)| {
            json!({
                "mechanism": of.mechanism,
                "hooks": of.hooks.names().collect::<Vec<_>>(),
                "takes": amounts(numbers),
                "registers": of.registers.iter().map(register).collect::<Vec<_>>(),
                "not_counted": of.not_counted,
            })
        };
        let shortage = |Shortage { what, needed, available, taken }: &Shortage| {
            let taken: Map<String, Value> = taken.iter().map(|&(name, amount)| (name.into(), amount.into())).collect();
            json!({ "what": what, "needed": needed, "available": available, "taken": taken })
        };
        json!({
            "switches": self.switches,
            "mechanisms": self.mechanisms.iter().map(mechanism).collect::<Vec<_>>(),
            "sum": amounts(&self.sum),
            "budget": self.budget.map(|budget| available(&budget)),
            "shortages": self.shortages.iter().map(shortage).collect::<Vec<_>>(),
        })
    }

    fn is_like(&self, other: &Self) -> bool {
        let numbers =
            |of: &Self| of.mechanisms.iter().map(|(of, numbers)| (of.mechanism, *numbers)).collect::<Vec<_>>();
        self.sum == other.sum && numbers(self) == numbers(other)
    }

    fn shortages_at(&self, recirculation_rate: BitRate) -> Vec<Shortage> {
        let limits = self.budget.iter().flat_map(|budget| budget.limits(recirculation_rate));
        let short = limits.filter(|limit| (limit.needed_by)(&self.sum) > limit.available);
        short
            .map(|limit| Shortage {
                what: limit.what,
                needed: (limit.needed_by)(&self.sum),
                available: limit.available,
                taken: self.mechanisms.iter().map(|(of, each)| (of.mechanism, (limit.needed_by)(each))).collect(),
            })
            .collect()
    }
}

fn amounts(footprint: &Footprint) -> Value {
    let name = |of: Counter| of.label.trim_start_matches("resources: ").to_owned();
    Value::Object(ResourceCounters::values(footprint).map(|(of, value)| (name(of), value.into())).collect())
}

fn available(budget: &Budget) -> Value {
    let stages = u64::from(budget.stages);
    json!({
        "stages of ingress": stages,
        "stages of egress": stages,
        "stateful ALUs": stages * u64::from(budget.stateful_alus_per_stage),
        "SRAM (blocks of 16 KiB)": stages * u64::from(budget.register_blocks_per_stage),
        "SRAM (bits)": stages * u64::from(budget.register_blocks_per_stage) * Budget::BLOCK_BITS,
        "queues at a port": budget.queues_per_port,
        "mirror sessions": budget.mirror_sessions,
        "recirculation (bit/s)": budget.recirculation.as_bps(),
    })
}

fn register(of: &RegisterUse) -> Value {
    let fields: Map<String, Value> = of.fields.iter().map(|&(name, bits)| (name.into(), bits.into())).collect();
    json!({
        "name": of.name,
        "half": if of.half == Half::Ingress { "ingress" } else { "egress" },
        "stage": of.stage,
        "cell_bits": of.cell_bits,
        "fields": fields,
        "cells": of.cells,
        "arrays": of.arrays,
        "bits": of.bits(),
        "blocks": of.blocks(),
        "modelled_outside": of.kept == Kept::Outside,
    })
}

const HINT: &str = "hitless scenario resources FILE shows all of it. Leave out a mechanism, make its tables \
                    smaller, or \
    give switch.budget what your switch has";

/// Returns a problem for each set of switches and each resource that is short. The scenario is otherwise valid.
pub(super) fn check(scenario: &Scenario) -> Vec<Problem> {
    // A file of flows is read when the run is built.
    let switches = survey(scenario).unwrap_or_default();
    let shortages = switches.iter().flat_map(|switch| switch.shortages.iter().map(move |shortage| (switch, shortage)));
    let problem = |(switch, shortage)| Problem::new("switch.checked", "", sentence(switch, shortage)).hint(HINT);
    shortages.map(problem).collect()
}

fn sentence(switch: &SwitchResources, shortage: &Shortage) -> String {
    let name = &switch.switches[0];
    let others = switch.switches.len() - 1;
    let also = if others > 0 { format!(" (and {others} more like it)") } else { String::new() };
    let each = shortage.taken.iter().filter(|(_, amount)| *amount > 0);
    let each: Vec<String> = each.map(|(mechanism, amount)| format!("{mechanism} {amount}")).collect();
    let Shortage { what, needed, available, .. } = shortage;
    let of = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
    format!("the mechanisms of {name}{also} take {needed} {what}{of}, and the switch has {available}")
}
