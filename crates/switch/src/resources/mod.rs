//! What a mechanism takes of a real switch, computed from the registers that it has and from what it asked for.
//!
//! Each mechanism states it ([`crate::Mechanism::resources`]). The statement names every [`crate::RegisterArray`] of
//! the mechanism, with its half, stage, width and number of cells; state that the model keeps in plain fields although
//! a switch would need registers for it is stated by the same figures and marked [`Kept::Outside`]. Queues and hooks
//! are added from what the mechanism subscribed to. In checked mode whatever a packet touches must have been stated.
//!
//! From there it is arithmetic ([`Footprint`]): registers with the same name are one array, as in a program; arrays of
//! one stage number do not depend on each other, and those of a later number do; a stage has so many stateful units and
//! so much memory ([`Budget`]), and what does not fit into one goes to the next. This is the least that the registers
//! need. Tables, hashes, headers and the program around it are not counted.

mod budget;
mod cell;
mod footprint;
mod limits;
mod statement;

pub use budget::Budget;
pub use cell::RegisterCell;
pub use footprint::Footprint;
pub use limits::Limit;
pub use statement::{Kept, RegisterUse, Resources};
