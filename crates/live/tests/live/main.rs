//! Live fabrics between interfaces in memory, and interfaces of Linux. One program, since each would instantiate the
//! fabric anew.

mod apart;
mod carriers;
mod conservation;
mod cuts;
mod deflected;
mod lab;
mod memory;
mod programs;
mod replay;
mod turns;
mod two_boxes;
mod veth;
