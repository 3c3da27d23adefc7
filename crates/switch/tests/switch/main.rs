//! The switch tested from outside: packets, queues, and its disciplines compared with slow oracles.

mod bit_by_bit;
mod credits;
mod flow_queueing;
mod refused;
mod room_in_queues;
mod way_of_a_packet;
mod work_conservation;
