//! What Link Layer Retry takes of a switch: nothing of its pipelines.

use hitless_switch::Resources;

pub(super) fn resources() -> Resources {
    Resources::new("link-layer-retry").not_counting("it sits in the MAC: replay buffer, numbers and timers")
}
