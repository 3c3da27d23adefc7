//! What the guard takes of a switch.

use hitless_switch::Resources;

use super::RankGuard;

pub(super) fn resources(guard: &RankGuard) -> Resources {
    Resources { registers: vec![guard.table.stated()], ..Resources::new("rank-guard") }
        .not_counting(
            "arithmetic on a slot that depends on all of its fields: more than a stateful ALU does in one access",
        )
        .not_counting("the hash of a flow")
}
