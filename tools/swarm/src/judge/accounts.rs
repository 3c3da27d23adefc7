//! Judges that apply to every world: counts must add up.

use hitless_core::engine::Progress;
use hitless_simulation::Simulation;

use super::evidence::{Evidence, Finding, found};
use crate::{relations, resume, same};

pub fn accounts(evidence: &Evidence<'_>) -> Finding {
    Some(evidence.outcome.violations.clone())
}

pub fn work_conserving(evidence: &Evidence<'_>) -> Finding {
    found(evidence.idle.first().cloned())
}

/// Checks that all losses have counted causes. Corruption is counted by link and not by flow, so the sum of unexplained
/// losses over all flows must not exceed it.
pub fn named_loss(evidence: &Evidence<'_>) -> Finding {
    let of = |name| evidence.numbers("flows", name);
    let lost = of("network_packets_lost");
    let named = [of("frames_dropped"), of("frames_lost_to_failures"), of("packets_trimmed")];
    let mut unexplained = 0;
    for (flow, &lost) in lost.iter().enumerate() {
        let explained: u64 = named.iter().filter_map(|column| column.get(flow)).sum();
        unexplained += lost.saturating_sub(explained);
    }
    let corrupted = evidence.outcome.summary.drops.get("corrupted on a link").copied().unwrap_or(0);
    // A receiver does not count a trimmed packet that it already had. A packet that LinkGuardian gave up can still
    // arrive, too late, and is then removed as a duplicate.
    let named = corrupted + evidence.counter("packets_trimmed") + evidence.counter("packets_lost");
    let fault =
        format!("{unexplained} packets were lost to no cause that is counted, and {named} corrupted, cut or given up");
    found((unexplained > named).then_some(fault))
}

pub fn replay(evidence: &Evidence<'_>) -> Finding {
    let replay = match evidence.replay {
        Err(sentence) => return Some(vec![sentence.clone()]),
        Ok(replay) => replay,
    };
    let differing = same::difference(evidence.outcome, replay, false);
    found(differing.map(|told| format!("two runs of one world differ {told}")))
}

pub fn resume(evidence: &Evidence<'_>) -> Finding {
    let difference = match evidence.resumed? {
        Err(sentence) => Some(sentence.clone()),
        Ok(resumed) => resume::difference(evidence.outcome, resumed),
    };
    found(difference)
}

pub fn threads(evidence: &Evidence<'_>) -> Finding {
    let (parts, divided) = evidence.divided?;
    let difference = match divided {
        Err(sentence) => Some(sentence.clone()),
        Ok(divided) => parts.difference(evidence.outcome, divided),
    };
    found(difference)
}

pub fn symmetry(evidence: &Evidence<'_>) -> Finding {
    found(evidence.unequal?.map(str::to_owned))
}

/// Runs again with an autopsy. The run itself compares the autopsy with the records of messages.
pub fn autopsy(evidence: &Evidence<'_>) -> Finding {
    let mut scenario = evidence.scenario.clone();
    scenario.measure.autopsy = true;
    // Messages on open connections are refused.
    hitless_scenario::check(&scenario.effective_toml(), "autopsy.toml", evidence.registry).ok()?;
    let outcome = Simulation::new(scenario).ok()?.run(&Progress::default());
    let broken = outcome.violations.into_iter().find(|violation| !evidence.outcome.violations.contains(violation));
    let (before, with) = (&evidence.outcome.summary.trace_hash, &outcome.summary.trace_hash);
    let differs = (before != with).then(|| format!("the trace hash is {with} with an autopsy, and {before} without"));
    found(broken.or(differs))
}

pub fn relations(evidence: &Evidence<'_>) -> Finding {
    let (_, broken) = relations::broken(evidence.world, evidence.outcome.summary.transmissions, evidence.registry)?;
    found(broken)
}
