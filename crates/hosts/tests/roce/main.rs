//! RoCEv2 from outside: random pipes, and what DCQCN makes of a bottleneck that marks.

#[path = "../support/bottleneck.rs"]
mod bottleneck;
mod convergence;
#[path = "../support/faults.rs"]
mod faults;
#[path = "../support/pipe.rs"]
mod pipe;
mod random_pipes;
