//! Live fabrics between interfaces in memory, and interfaces of Linux. They are one program, since each program would
//! instantiate the fabric again.

mod apart;
mod captures;
mod carriers;
mod conservation;
mod cuts;
mod deflected;
mod lab;
mod memory;
mod pcapng;
mod programs;
mod replay;
mod turns;
mod two_boxes;
mod veth;
