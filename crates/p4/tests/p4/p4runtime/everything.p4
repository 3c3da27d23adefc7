// Everything that P4Runtime can write, for the tests of the control plane.
#include <core.p4>
#include <v1model.p4>

header first_t {
    bit<16> kind;
    bit<32> address;
    bit<12> low;
    bit<4> flags;
    bit<8> level;
}

struct headers_t {
    first_t first;
}

struct metadata_t {
    bit<2> colour;
}

parser Parse(packet_in packet, out headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    value_set<bit<16>>(4) kinds;
    state start {
        transition select(packet.lookahead<bit<16>>()) {
            kinds: known;
            default: accept;
        }
    }
    state known {
        packet.extract(headers.first);
        transition accept;
    }
}

control Verify(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

control In(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    action_selector(HashAlgorithm.crc16, 32w64, 32w14) chosen_ways;
    action_profile(32w4) shared_ways;
    counter(8, CounterType.packets_and_bytes) counted;
    direct_counter(CounterType.packets_and_bytes) counted_by_entry;
    meter(4, MeterType.bytes) metered;
    direct_meter<bit<2>>(MeterType.packets) metered_by_entry;
    register<bit<48>>(8) kept;
    register<int<12>>(4) signed;

    action drop() {
        mark_to_drop(standard);
    }
    action send(bit<9> port) {
        standard.egress_spec = port;
        counted_by_entry.count();
        metered_by_entry.read(meta.colour);
    }
    action send_way(bit<9> port) {
        standard.egress_spec = port;
    }
    action replicate(bit<16> group) {
        standard.mcast_grp = group;
    }
    action clone_to(bit<32> session) {
        clone(CloneType.I2E, session);
    }

    table acl {
        key = {
            headers.first.kind: exact;
            headers.first.address: ternary;
            headers.first.low: range;
            headers.first.flags: optional;
            headers.first.level: lpm;
        }
        actions = { send; drop; }
        size = 4;
        default_action = drop();
        counters = counted_by_entry;
        meters = metered_by_entry;
    }
    table by_selector {
        key = {
            headers.first.address: lpm;
            headers.first.low: selector;
        }
        actions = { send_way; drop; }
        implementation = chosen_ways;
    }
    table by_profile {
        key = { headers.first.address: exact; }
        actions = { send_way; drop; }
        implementation = shared_ways;
    }
    table copies {
        key = { headers.first.kind: exact; }
        actions = { replicate; clone_to; NoAction; }
        default_action = NoAction();
    }
    table unkeyed {
        actions = { send_way; drop; }
        const default_action = drop();
    }
    apply {
        bit<48> value;
        int<12> small;
        bit<2> colour;
        if (!headers.first.isValid()) {
            unkeyed.apply();
        } else {
            acl.apply();
            by_selector.apply();
            by_profile.apply();
            copies.apply();
            counted.count((bit<32>) headers.first.flags);
            metered.execute_meter((bit<32>) headers.first.flags & 3, colour);
            kept.read(value, (bit<32>) headers.first.flags & 7);
            kept.write(0, value + 1);
            signed.read(small, (bit<32>) headers.first.flags & 3);
            signed.write(0, small - 1);
            headers.first.level = headers.first.level + (bit<8>) colour;
        }
    }
}

control Out(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.instance_type != 0) {
            headers.first.level = (bit<8>) standard.egress_rid;
        }
    }
}

control Compute(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

control Deparse(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.first);
    }
}

V1Switch(Parse(), Verify(), In(), Out(), Compute(), Deparse()) main;
