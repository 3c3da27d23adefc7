//! What the guard takes of a switch.

use hitless_switch::{RegisterUse, Resources};

pub(super) fn resources(table: RegisterUse) -> Resources {
    Resources { registers: vec![table], ..Resources::new("rank-guard") }
        .not_counting(
            "arithmetic on a slot that depends on all of its fields: more than a stateful ALU does in one access",
        )
        .not_counting("the hash of a flow")
}
