//! What Wharf takes of a switch: nothing of its pipelines.

use hitless_switch::Resources;

pub(super) fn resources() -> Resources {
    Resources::new("wharf").not_counting(
        "it sits at the MAC, in front of the pipeline (an FPGA in the paper): coder, decoder and the buffers of blocks",
    )
}
