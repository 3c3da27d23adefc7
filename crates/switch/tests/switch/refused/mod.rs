//! Packets for which a queue has no room: what a mechanism may do with them, and what queues ordered by rank give up.

mod by_rank;
mod verdicts;
mod world;
