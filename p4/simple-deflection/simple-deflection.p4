// Simple Deflection (Abdous, Sharafzadeh, Ghorbani: "Practical Packet Deflection in Datacenters", CoNEXT 2023; sections
// as printed there): if a packet's queue is full, the packet goes to a port that faces a switch and has room. A search
// begins at a random port and takes the first that fits (section 4.1, appendix E).

#include <core.p4>
#include <v1model.p4>
#include "../hitless.p4"
#include "../headers.p4"
#include "../ports.p4"

struct headers_t {
    generated_t generated;
    ethernet_t  ethernet;
    ipv4_t      ipv4;
}

struct metadata_t {
    queue_t queue;
    /// Ports that face switches, and their number.
    ports_t switches;
    bit<8>  switch_count;
    /// Ports that can take the packet. In `turned` they are rotated: bit 0 is the start of the search.
    ports_t free;
    ports_t turned;
    bit<8>  start;
}

#include "../parse.p4"

control Verify(inout headers_t headers, inout metadata_t meta) { apply {} }

control ingress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    LinkStates() link_states;
    counter(16, CounterType.packets) deflected;
    counter(16, CounterType.packets) nowhere_to_go;

#include "../routes.p4"

    action relieve() {}
    /// Ports with deflection.
    table relieved {
        key = { standard.egress_spec: exact; }
        actions = { relieve; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    action set_switches(ports_t ports, bit<8> count) {
        meta.switches = ports;
        meta.switch_count = count;
    }
    /// Ports that face switches and are allowed for packets from `ingress_port`.
    table towards_switches {
        key = { standard.ingress_port: exact; }
        actions = { set_switches; }
        default_action = set_switches(0, 0);
        size = 16;
    }

    action start_at(bit<8> port) { meta.start = port; }
    /// Port at the n-th place of the circle.
    table circle {
        key = { meta.start: exact; }
        actions = { start_at; }
        default_action = start_at(0);
        size = 16;
    }

    action set_offset(bit<8> offset) { meta.start = meta.start + offset; }
    /// "The first 0 in the bitmap after the r'th bit" (appendix E). Here a 1 is a free port, and bit r has been rotated
    /// to the front.
    table first_free {
        key = { meta.turned: ternary; }
        actions = { set_offset; }
        const entries = {
            0x0001 &&& 0x0001: set_offset(0);
            0x0002 &&& 0x0002: set_offset(1);
            0x0004 &&& 0x0004: set_offset(2);
            0x0008 &&& 0x0008: set_offset(3);
            0x0010 &&& 0x0010: set_offset(4);
            0x0020 &&& 0x0020: set_offset(5);
            0x0040 &&& 0x0040: set_offset(6);
            0x0080 &&& 0x0080: set_offset(7);
            0x0100 &&& 0x0100: set_offset(8);
            0x0200 &&& 0x0200: set_offset(9);
            0x0400 &&& 0x0400: set_offset(10);
            0x0800 &&& 0x0800: set_offset(11);
            0x1000 &&& 0x1000: set_offset(12);
            0x2000 &&& 0x2000: set_offset(13);
            0x4000 &&& 0x4000: set_offset(14);
            0x8000 &&& 0x8000: set_offset(15);
        }
        default_action = set_offset(0);
    }

#define ASK_PORT(P) \
    if (meta.free[P:P] == 1) { \
        class_queue(P, queue); \
        queue_has_room(P, queue, has_room); \
        meta.free[P:P] = has_room; \
    }

    /// Rotates the bitmap of free ports by `start`.
    action turn() {
        bit<32> twice = meta.free ++ meta.free;
        meta.turned = (ports_t) (twice >> meta.start);
    }

    apply {
        ports_t down;
        link_states.apply(headers.generated, headers.generated.isValid(), down);
        if (headers.generated.isValid()) {
            drop();
            return;
        }
        routes.apply();
        if (!relieved.apply().hit) { return; }
        bit<1> has_room;
        queue_t queue;
        class_queue(standard.egress_spec, queue);
        queue_has_room(standard.egress_spec, queue, has_room);
        if (has_room == 1) { return; }

        towards_switches.apply();
        if (meta.switch_count == 0) {
            nowhere_to_go.count((bit<32>) standard.egress_spec);
            return;
        }
        random(meta.start, 0, meta.switch_count - 1);
        circle.apply();
        ports_t own = (ports_t) 1 << (bit<8>) standard.egress_spec;
        meta.free = meta.switches & ~down & ~own;
        EACH_PORT(ASK_PORT)
        if (meta.free == 0) {
            // Its own queue drops it.
            nowhere_to_go.count((bit<32>) standard.egress_spec);
            return;
        }
        turn();
        first_free.apply();
        deflected.count((bit<32>) standard.egress_spec);
        port_t chosen = (port_t) (meta.start & 15);
        class_queue(chosen, queue);
        send_to_queue(chosen, queue);
    }
}

control egress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) { apply {} }

control Compute(inout headers_t headers, inout metadata_t meta) { apply {} }

V1Switch(Parse(), Verify(), ingress(), egress(), Compute(), Deparse()) main;
