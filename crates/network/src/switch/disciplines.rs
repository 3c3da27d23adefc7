//! Queueing by flow, from settings to those of a port.

use hitless_switch::FlowQueueing;
use hitless_switch::queueing::flow::{ClassWeights, CodelConfig, DrrConfig, FqCodelConfig, IdealFqConfig, SfqConfig};
use hitless_wire::Bytes;

use super::flow_queueing::{DrrSettings, FlowQueueingSettings, FqCodelSettings, IdealFqSettings, SfqSettings};

/// The discipline of a port that `settings` describe, where the longest frame is `frame_max` and flows are hashed with
/// `salt`.
pub fn discipline(settings: &FlowQueueingSettings, frame_max: Bytes, salt: u32) -> FlowQueueing {
    match settings {
        FlowQueueingSettings::IdealFq(settings) => FlowQueueing::IdealFq(ideal_fq(settings)),
        FlowQueueingSettings::Drr(settings) => FlowQueueing::Drr(drr(settings)),
        FlowQueueingSettings::Sfq(settings) => FlowQueueing::Sfq(sfq(settings, salt)),
        FlowQueueingSettings::FqCodel(settings) => FlowQueueing::FqCodel(fq_codel(settings, frame_max, salt)),
    }
}

fn weights(given: &[u16]) -> ClassWeights {
    ClassWeights(std::array::from_fn(|class| given.get(class).copied().unwrap_or(1)))
}

fn ideal_fq(settings: &IdealFqSettings) -> IdealFqConfig {
    let bits = settings.bytes_per_round.0 * 8;
    IdealFqConfig {
        weights: weights(&settings.weights),
        mark_rounds: settings.mark_rounds.map(|rounds| u64::from(rounds) * bits),
        charge_drops: settings.charge_drops,
    }
}

fn drr(settings: &DrrSettings) -> DrrConfig {
    DrrConfig { quantum_bytes: settings.quantum.0 as u32, weights: weights(&settings.weights) }
}

fn sfq(settings: &SfqSettings, salt: u32) -> SfqConfig {
    SfqConfig {
        queues: settings.queues,
        quantum_bytes: settings.quantum.0 as u32,
        perturbation: settings.perturbation,
        salt,
    }
}

fn fq_codel(settings: &FqCodelSettings, frame_max: Bytes, salt: u32) -> FqCodelConfig {
    let codel = CodelConfig {
        target: settings.target,
        interval: settings.interval,
        small_queue_bytes: frame_max.0 as u32,
        marks: settings.ecn,
    };
    FqCodelConfig {
        flows: settings.flows,
        quantum_bytes: settings.quantum.0 as u32,
        limit_packets: settings.limit,
        drop_batch: settings.drop_batch,
        codel,
        salt,
    }
}
