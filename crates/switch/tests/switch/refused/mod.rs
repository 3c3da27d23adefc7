//! Packets that a queue refuses: the verdicts of mechanisms, and evictions from queues served by rank.

mod by_rank;
mod verdicts;
mod world;
