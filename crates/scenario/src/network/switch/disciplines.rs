//! Queueing by flow, from settings to those of a port.

use hitless_core::wire::Bytes;
use hitless_switch::FlowQueueing;
use hitless_switch::queueing::flow::{ClassWeights, CodelConfig, DrrConfig, FqCodelConfig, IdealFqConfig, SfqConfig};

use super::flow_queueing::FlowQueueingSettings;

/// The discipline of a port that `settings` describe, where the longest frame is `frame_max` and flows are hashed with
/// `salt`.
pub fn discipline(settings: &FlowQueueingSettings, frame_max: Bytes, salt: u32) -> FlowQueueing {
    let given = settings.weights();
    let weights = ClassWeights(std::array::from_fn(|class| given.get(class).copied().unwrap_or(1)));
    match settings {
        FlowQueueingSettings::IdealFq(settings) => {
            let bits = settings.bytes_per_round.0 * 8;
            let mark_rounds = settings.mark_rounds.map(|rounds| u64::from(rounds) * bits);
            FlowQueueing::IdealFq(IdealFqConfig { weights, mark_rounds, charge_drops: settings.charge_drops })
        }
        FlowQueueingSettings::Drr(settings) => {
            FlowQueueing::Drr(DrrConfig { quantum_bytes: settings.quantum.0 as u32, weights })
        }
        FlowQueueingSettings::Sfq(settings) => FlowQueueing::Sfq(SfqConfig {
            queues: settings.queues,
            quantum_bytes: settings.quantum.0 as u32,
            perturbation: settings.perturbation,
            salt,
        }),
        FlowQueueingSettings::FqCodel(settings) => FlowQueueing::FqCodel(FqCodelConfig {
            flows: settings.flows,
            quantum_bytes: settings.quantum.0 as u32,
            limit_packets: settings.limit,
            drop_batch: settings.drop_batch,
            codel: CodelConfig {
                target: settings.target,
                interval: settings.interval,
                small_queue_bytes: frame_max.0 as u32,
                marks: settings.ecn,
            },
            salt,
        }),
    }
}
