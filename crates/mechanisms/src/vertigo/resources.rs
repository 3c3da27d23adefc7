//! What Vertigo takes of a switch.

use hitless_switch::Resources;

pub(super) fn resources() -> Resources {
    Resources::new("vertigo")
        .not_counting("queues sorted by rank that give up their worst packets: no switch of today has them")
        .not_counting("a traffic manager that hands on the packets it refuses")
        .not_counting("the random choice of ports, and the table of those that face switches and are up")
}
