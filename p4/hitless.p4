// Switch functions that the papers need and v1model lacks. Compile with `--emit-externs`: p4c then writes each call as
// a primitive with that name, and hitless executes it with its traffic manager and clock. A program that calls one runs
// only on hitless.
//
// Ports are bit<9> as in v1model, queues bit<8>, depths bytes, delays nanoseconds. Each comment names the pipelines
// that may call the function; hitless does not load a program with a call from another one.

#ifndef HITLESS_P4
#define HITLESS_P4

#include <v1model.p4>

typedef bit<9> port_t;
typedef bit<8> queue_t;

/// First of the program's own queues at a port, after the traffic classes' queues. The scenario sets their number;
/// queue i is OWN_QUEUE + i.
const queue_t OWN_QUEUE = 0xE0;

/// standard_metadata.instance_type of a packet made by the switch, which begins with a generated_t.
const bit<32> INSTANCE_GENERATED = 8;
/// instance_type of a packet in egress again, after egress moved it to another queue.
const bit<32> INSTANCE_MOVED = 9;
/// instance_type of clones made by ingress or egress, as in simple_switch.
const bit<32> INSTANCE_INGRESS_CLONE = 1;
const bit<32> INSTANCE_EGRESS_CLONE = 2;
/// Index of the @field_list with the user metadata that a moved packet keeps.
const bit<8> MOVED_FIELDS = 7;

/// Events that a generated packet reports.
const bit<8> GENERATED_START = 0;
const bit<8> GENERATED_TIMER = 1;
const bit<8> GENERATED_PORT_DOWN = 2;
const bit<8> GENERATED_PORT_UP = 3;
/// The token is the backup port.
const bit<8> GENERATED_PORT_REROUTED = 4;
/// The token is the number of the command.
const bit<8> GENERATED_COMMAND = 5;

/// First bytes of a packet made by the switch.
header generated_t {
    bit<8>  kind;
    bit<8>  zero;
    bit<16> port;
    bit<32> token;
    bit<48> at_ns;
}

/// Reads the clock of hardware timestamps. Ingress and egress.
extern void timestamp_ns(out bit<48> now_ns);

/// Returns the hash of the packet's 5-tuple, computed by the switch's parser. Ingress and egress.
extern void flow_hash(out bit<32> hash);

/// Returns the port that the switch's routing selects for the packet. Ingress.
extern void routed_port(out port_t port);

/// Returns the queue of the packet's traffic class at a port. Ingress and egress.
extern void class_queue(in port_t port, out queue_t queue);

/// Returns the bytes waiting in a queue of any port. Ingress and egress.
extern void queue_depth(in port_t port, in queue_t queue, out bit<32> depth_bytes);

/// Returns whether a queue has room for the current packet, counting waiting packets and those on their way. Ingress.
extern void queue_has_room(in port_t port, in queue_t queue, out bit<1> has_room);

/// Ingress: sends the packet to this queue of this port, and sets egress_spec. Egress: moves it to that queue after the
/// deparser; it enters egress again as INSTANCE_MOVED, with the metadata of @field_list(MOVED_FIELDS).
extern void send_to_queue(in port_t port, in queue_t queue);

/// Sends this pass's clone to this queue of this port, and ignores the port of its session.
/// Ingress and egress.
extern void direct_clone(in port_t port, in queue_t queue);

/// Stops a queue of any port immediately. Ingress and egress.
extern void pause_queue(in port_t port, in queue_t queue);

/// Resumes a stopped queue immediately. Ingress and egress.
extern void resume_queue(in port_t port, in queue_t queue);

/// Sends one generated packet to ingress after `delay_ns`, of kind GENERATED_TIMER and with this token. Ingress and
/// egress.
extern void start_timer(in bit<32> delay_ns, in bit<32> token);

/// Returns the state of a port's rotating queues: the current round (its low 32 bits), the first queue, and the number
/// of queues. The queue of round r is first_queue + r mod queues; the traffic manager rotates their priorities.
/// Ingress.
extern void current_round(in port_t port, out bit<32> round, out queue_t first_queue, out bit<8> queues);

#endif
