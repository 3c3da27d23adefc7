//! A mechanism's hardware resources on a real switch, computed from its registers and its requests.
//!
//! Each mechanism states them ([`crate::Mechanism::resources`]). The statement has every [`crate::RegisterArray`] of
//! the mechanism, with its half, stage, width and number of cells. State that the model keeps in plain fields, but that
//! a switch would keep in registers, is stated in the same way and marked [`Kept::Outside`]. Queues and hooks are added
//! from the mechanism's subscriptions. In checked mode, packets may touch only stated resources.
//!
//! [`Footprint`] has the arithmetic. Registers with the same name are one array, as in a program. Arrays with the same
//! stage number do not depend on each other; arrays with a later number depend on earlier ones. A stage has a limited
//! number of stateful units and blocks of memory ([`Budget`]); the excess goes to the next stage. The result is the
//! minimum for the registers. Tables, hashes, headers and the program around them are not counted.

mod budget;
mod cell;
mod footprint;
mod limits;
mod statement;

pub use budget::Budget;
pub use cell::RegisterCell;
pub use footprint::{Footprint, ResourceCounters};
pub use limits::Limit;
pub use statement::{Kept, RegisterUse, Resources};
