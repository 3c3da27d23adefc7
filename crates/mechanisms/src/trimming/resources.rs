//! What packet trimming takes of a switch.

use hitless_switch::Resources;

pub(super) fn resources() -> Resources {
    Resources::new("trimming")
        .not_counting("a traffic manager that hands on the packets it refuses, and cuts them")
        .not_counting("the bandwidth of the port by which they go round")
}
