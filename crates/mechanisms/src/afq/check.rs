//! Checks that AFQ's numbers fit together. Sections refer to the paper.

use hitless_core::settings::Problem;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::Check;
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::switch::{BufferSettings, DepthVisible, SwitchSettings};
use hitless_scenario::network::topology::Topology;

use super::classes;
use super::round_trip::by_round_trip;
use super::settings::{AfqHash, AfqIdleRound, AfqRound, AfqScheduler, AfqSettings, UpdateRule};

pub fn check_entry(settings: &AfqSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let topology = around.topology;
    let before = check.found();
    check.ports_named_once(topology, &settings.ports, &format!("{section}.ports"));
    classes::check(check, topology, settings, section);
    switch(check, topology, settings);
    round_trip(check, around, settings, section);
    sketch(check, settings, section);
    scheduler(check, settings, section);
    checked(check, settings, section);
    adaptive(check, topology, settings, section);
    if check.found() == before {
        rounds(check, settings, section);
        buffer(check, topology, settings, section);
    }
}

/// Requires that a round trip and bytes per round agree if both are set.
fn round_trip(check: &mut Check<'_>, around: Surroundings<'_>, settings: &AfqSettings, section: &str) {
    let Some(given) = settings.round_trip else { return };
    check.require(given > Duration::ZERO, &format!("{section}.round_trip"), "must be above zero");
    let (own, derived) = (settings.bytes_per_round(), by_round_trip(settings, given, around));
    check.require_else(own == derived, || {
        let rule = format!("is {} by round_trip: d x l / (6 x {} queues)", derived.text(), settings.queues);
        Problem::new(format!("{section}.bytes_per_round"), own.text(), rule).hint("leave out one of the two")
    });
}

/// Requires that the settings of `[switch]` for ports are compatible with AFQ on them.
fn switch(check: &mut Check<'_>, topology: &Topology, settings: &AfqSettings) {
    let switch = &check.scenario.switch;
    let takes_all = |switch: &SwitchSettings| classes::bits(settings, switch) == u8::MAX;
    let all = switch.variants_at(topology, topology.switch_ids());
    let is_everywhere = settings.ports.is_empty() && all.iter().all(|switch| takes_all(switch));
    let has_others = |switch: &SwitchSettings| switch.queues_per_port > 1 && takes_all(switch);
    let leaves_others = settings.ports.is_empty() && all.iter().any(|switch| has_others(switch));
    check.require_else(!leaves_others, || {
        Problem::new("switch.queues_per_port", "", "AFQ takes all packets of its ports: these queues would stay empty")
            .hint("take 1, or name AFQ's ports or classes")
    });
    check.require_else(!is_everywhere || !switch.marks_somewhere(), || {
        Problem::new("switch.ecn", "", "AFQ takes all packets of its ports: no other queue would ever mark one")
            .hint("take ecn_rounds of the mechanism, or name AFQ's ports or classes")
    });
}

fn sketch(check: &mut Check<'_>, settings: &AfqSettings, section: &str) {
    let sketch = settings.sketch;
    let field = |name: &str| format!("{section}.sketch.{name}");
    check.require(matches!(sketch.bid_bits, 32 | 64), &field("bid_bits"), "must be 32 or 64");
    let has_functions = sketch.hash != AfqHash::Checksums || sketch.rows <= 4;
    check.require(has_functions, &field("rows"), "the hash \"checksums\" has four functions, for four rows at most");
    let recovers = sketch.update != UpdateRule::Increment || settings.idle_round == AfqIdleRound::LineRate;
    check.require_else(recovers, || {
        let rule = "charges packets that are dropped, and on an idle port their flow would be too far ahead for ever";
        Problem::new(field("update"), "", rule)
            .hint("take idle_round = \"line-rate\", or the update \"predicated-increment\"")
    });
    let has_room = sketch.update != UpdateRule::Increment || sketch.bid_bits == 64;
    check.require_else(has_room, || {
        let rule = "is too short for the update \"increment\": a new flow would be too far ahead while the port's \
                    bids are in the upper half of their range";
        Problem::new(field("bid_bits"), sketch.bid_bits.to_string(), rule).hint("take 64")
    });
    let can_refund = settings.charge_refused || sketch.update != UpdateRule::Figure3;
    check.require_else(can_refund, || {
        let rule = "needs increments: by how much each row was raised is not known with the update \"figure-3\"";
        Problem::new(format!("{section}.charge_refused"), "false", rule)
    });
}

fn scheduler(check: &mut Check<'_>, settings: &AfqSettings, section: &str) {
    let field = |name: &str| format!("{section}.{name}");
    let from_occupancy = settings.round == AfqRound::FromOccupancy;
    let has_effect = settings.occupancy.is_none() || from_occupancy;
    check.require(has_effect, &field("occupancy"), "has no effect without round = \"from-occupancy\"");
    let sees = settings.occupancy.is_none_or(|occupancy| occupancy.granularity > Bytes::ZERO);
    check.require(sees, &field("occupancy.granularity"), "must be 1 B or more");
    let moves_on = settings.idle_round == AfqIdleRound::LineRate;
    check.require(
        !(from_occupancy && moves_on),
        &field("idle_round"),
        "an inferred round does not go on while the port is idle",
    );
    check.require(
        settings.charge_refused || !from_occupancy,
        &field("charge_refused"),
        "needs the round that the packet was charged in, and an inferred one may have changed",
    );
    match settings.scheduler {
        AfqScheduler::RotatingStrictPriority(_) => {}
        AfqScheduler::DeficitRoundRobin(deficit) => {
            // A quantum below a round ends turns before their queues are empty: the round would run away.
            let least = settings.bytes_per_round().0.max(u64::from(hitless_core::wire::packet::MTU_FRAME_BYTES));
            let fits = (least..=u64::from(u32::MAX)).contains(&deficit.quantum.0);
            check.require_else(fits, || {
                let rule = format!("must be from {least} B, which is a frame or a round of a flow, to 4294967295 B");
                Problem::new(field("scheduler.quantum"), deficit.quantum.to_string(), rule)
            });
            let rule = "the turn of a deficit round robin does not go on while the port is idle";
            check.require(!moves_on, &field("idle_round"), rule);
        }
        AfqScheduler::TwoGroups(groups) => {
            let lasts = groups.period.is_none_or(|period| period > Duration::ZERO);
            check.require(lasts, &field("scheduler.period"), "must be above zero");
            let halves = settings.queues.is_multiple_of(2);
            check.require(halves, &field("queues"), "must be even: the scheduler \"two-groups\" has two halves");
            let rule =
                "the scheduler \"two-groups\" does not serve one round after the other: empty queues tell nothing";
            check.require(!from_occupancy, &field("round"), rule);
            let rule = "needs a scheduler that serves one round after the other";
            check.require(settings.adaptive.is_none(), &field("adaptive"), rule);
        }
    }
}

/// Refuses features that hardware of today lacks.
fn checked(check: &mut Check<'_>, settings: &AfqSettings, section: &str) {
    let switch = &check.scenario.switch;
    if !switch.checked {
        return;
    }
    let field = |name: &str| format!("{section}.{name}");
    let hint = "leave out switch.checked";
    let refusals = [
        (
            settings.sketch.update == UpdateRule::Figure3,
            "sketch.update",
            "reads each row and writes it later: two accesses, and a checked switch allows one",
        ),
        (
            settings.round == AfqRound::FromOccupancy,
            "round",
            "reads lastAssigned before the sketch and writes it after: two accesses, and a checked switch allows one",
        ),
        (
            !settings.charge_refused,
            "charge_refused",
            "would write ingress registers from behind the traffic manager, which a checked switch does not allow",
        ),
        (
            settings.adaptive.is_some() && switch.depth_visible == DepthVisible::Egress,
            "adaptive",
            "reads the depth of a queue in ingress, and switch.depth_visible is \"egress\"",
        ),
    ];
    for (is_refused, name, rule) in refusals {
        check.require_else(!is_refused, || Problem::new(field(name), "", rule).hint(hint));
    }
}

fn adaptive(check: &mut Check<'_>, topology: &Topology, settings: &AfqSettings, section: &str) {
    let Some(adaptive) = settings.adaptive else { return };
    let own = check.scenario.switch.variants_at(topology, settings.ports_by_switch(topology).into_keys());
    let is_shared = own.iter().all(|switch| matches!(switch.buffer, BufferSettings::Shared(_)));
    let rule = "adapts to the room in a shared buffer: switch.buffer must be of kind \"shared\"";
    check.require(is_shared, &format!("{section}.adaptive"), rule);
    let fits = adaptive.queues_min <= settings.queues;
    check.require(fits, &format!("{section}.adaptive.queues_min"), "must not be above queues");
}

/// Requires that a full frame fits into the rounds, and the rounds into a bid.
fn rounds(check: &mut Check<'_>, settings: &AfqSettings, section: &str) {
    let field = |name: &str| format!("{section}.{name}");
    let per_round = settings.bytes_per_round();
    let two_groups = matches!(settings.scheduler, AfqScheduler::TwoGroups(_));
    // With two groups "the number of active queues the system can use could drop from 2n to n" (section 4).
    let always = if two_groups { settings.queues / 2 } else { settings.queues };
    let least = settings.adaptive.map_or(always, |adaptive| adaptive.queues_min.min(always));
    let open = Bytes(per_round.0.saturating_mul(least.into()));
    let lightest = settings.class_weights.iter().copied().fold(1.0, f64::min);
    let charge = Bytes((f64::from(MTU_FRAME_BYTES) / lightest).ceil() as u64);
    check.require_else(open > charge, || {
        let (open, per_round, charge) = (open.text(), per_round.text(), charge.text());
        let rule = format!(
            "is too small: {least} rounds x {per_round} = {open}, and a full frame is charged {charge}: each would be \
             dropped"
        );
        Problem::new(field("bytes_per_round"), "", rule)
    });
    let most = Bytes(per_round.0.saturating_mul(u64::from(settings.queues) + 1).saturating_add(charge.0));
    check.require_else(most.0 < 1 << 31, || {
        let (count, per_round, most) = (settings.queues + 1, per_round.text(), most.text());
        let rule = format!(
            "is too large: {count} rounds x {per_round} and a frame are {most}, and \
             bids are told apart below 2^31 bytes"
        );
        Problem::new(field("bytes_per_round"), "", rule)
    });
}

/// Requires that a single flow cannot fill the buffer before the rounds stop it (section 3.4).
fn buffer(check: &mut Check<'_>, topology: &Topology, settings: &AfqSettings, section: &str) {
    let heaviest = settings.heaviest();
    let one_flow = settings.bytes_per_round().0.saturating_mul(settings.queues.into());
    let one_flow = Bytes((one_flow as f64 * heaviest).round() as u64);
    let Some(least) = settings.buffer_min(check.scenario, topology) else { return };
    let is_length = least > Bytes::ZERO;
    check.require(is_length, &format!("{section}.port_buffer"), "must be above zero");
    check.require_else(!is_length || one_flow <= least, || {
        let (queues, per_round) = (settings.queues, settings.bytes_per_round().text());
        let weight = if heaviest > 1.0 { format!(" x weight {heaviest}") } else { String::new() };
        let room =
            if settings.classes.is_some() { "room of these classes at a port is" } else { "buffer of a port has" };
        let rule = format!(
            "one flow alone may have {queues} rounds x {per_round}{weight} = {} queued, and the {room} {}",
            one_flow.text(),
            least.text()
        );
        Problem::new(format!("{section}.bytes_per_round"), "", rule)
            .hint("take fewer bytes per round, fewer queues, or a larger port_buffer")
    });
}
