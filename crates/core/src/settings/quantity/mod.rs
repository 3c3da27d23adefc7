//! Quantities with units, as files write them: `"100 Gbps"`, `"1.5 us"`, `"300 KB"`, `"65 packets"`.

mod text;
mod units;

pub use text::{Optional, Text};
pub(crate) use units::format_named;
pub use units::{Quantity, QuantityError, QueueLength};
