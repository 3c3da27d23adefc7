// What the papers' systems need of a switch and v1model does not have. Compile with `--emit-externs`: p4c then writes
// each call as a primitive of that name, which hitless executes against its traffic manager and clock. No other switch
// does.
//
// Ports are bit<9> as in v1model, queues bit<8>, depths bytes, delays nanoseconds. A call outside of the pipeline that
// its comment names is refused when the program is loaded.

#ifndef HITLESS_P4
#define HITLESS_P4

#include <v1model.p4>

typedef bit<9> port_t;
typedef bit<8> queue_t;

/// The first of the queues that the scenario gives the program at a port, beyond those of the traffic classes: the i-th
/// is OWN_QUEUE + i.
const queue_t OWN_QUEUE = 0xE0;

/// standard_metadata.instance_type of a packet that the switch has made: it begins with a generated_t.
const bit<32> INSTANCE_GENERATED = 8;
/// That of a packet that egress has moved to another queue, and that is in egress again.
const bit<32> INSTANCE_MOVED = 9;
/// Those of a copy that ingress or egress has made, as in simple_switch.
const bit<32> INSTANCE_INGRESS_CLONE = 1;
const bit<32> INSTANCE_EGRESS_CLONE = 2;
/// The index of the @field_list of user metadata that a moved packet keeps.
const bit<8> MOVED_FIELDS = 7;

/// What a generated packet tells.
const bit<8> GENERATED_START = 0;
const bit<8> GENERATED_TIMER = 1;
const bit<8> GENERATED_PORT_DOWN = 2;
const bit<8> GENERATED_PORT_UP = 3;
/// The token is the backup port.
const bit<8> GENERATED_PORT_REROUTED = 4;
/// The token is the number of the command.
const bit<8> GENERATED_COMMAND = 5;

/// The first bytes of a packet that the switch has made.
header generated_t {
    bit<8>  kind;
    bit<8>  zero;
    bit<16> port;
    bit<32> token;
    bit<48> at_ns;
}

/// The clock of the hardware's timestamps. Ingress and egress.
extern void timestamp_ns(out bit<48> now_ns);

/// The hash of the packet's 5-tuple that the switch's parser has computed. Ingress and egress.
extern void flow_hash(out bit<32> hash);

/// The port by which the switch's own routing would send the packet. Ingress.
extern void routed_port(out port_t port);

/// The queue of the packet's traffic class at a port. Ingress and egress.
extern void class_queue(in port_t port, out queue_t queue);

/// Bytes that wait in a queue of any port. Ingress and egress.
extern void queue_depth(in port_t port, in queue_t queue, out bit<32> depth_bytes);

/// Whether a queue has room for the packet at hand, by what waits there and what is on its way there. Ingress.
extern void queue_has_room(in port_t port, in queue_t queue, out bit<1> has_room);

/// Ingress: the packet goes to this queue of this port (and egress_spec says so). Egress: it is moved to that queue
/// after the deparser, and comes to egress once more as INSTANCE_MOVED, with the metadata of @field_list(MOVED_FIELDS).
extern void send_to_queue(in port_t port, in queue_t queue);

/// The clone that this pass of the pipeline asks for goes to this queue of this port, whatever its session says.
/// Ingress and egress.
extern void direct_clone(in port_t port, in queue_t queue);

/// Stops a queue of any port at once. Ingress and egress.
extern void pause_queue(in port_t port, in queue_t queue);

/// Lets it go on at once. Ingress and egress.
extern void resume_queue(in port_t port, in queue_t queue);

/// After `delay_ns` a generated packet of kind GENERATED_TIMER with this token comes to ingress, once. Ingress and
/// egress.
extern void start_timer(in bit<32> delay_ns, in bit<32> token);

/// Where the rotating queues of a port are: the round that is served (its low 32 bits), the first of the queues, and
/// how many there are. The queue of round r is first_queue + r mod queues; the traffic manager rotates their
/// priorities. Ingress.
extern void current_round(in port_t port, out bit<32> round, out queue_t first_queue, out bit<8> queues);

#endif
