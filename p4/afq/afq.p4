// AFQ, approximate fair queueing (Sharma, Liu, Atreya, Krishnamurthy, NSDI 2018; sections as printed there). Ingress
// keeps a sketch of bids, estimates the round in which bit-by-bit round robin would send a packet, and sends the packet
// to the queue of that round. The traffic manager serves one round after the other (section 3.3.2).

#include <core.p4>
#include <v1model.p4>
#include "../hitless.p4"
#include "../headers.p4"

/// Columns of the sketch at each port (section 6). A row has COLUMNS cells for each of PORTS ports.
const bit<32> COLUMNS = 16384;
const bit<32> PORTS = 16;

/// Bytes since the beginning of the first round; wraps.
typedef bit<32> bid_t;

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct metadata_t {
    bit<32> bytes_per_round;
    bit<32> limit_bytes;
    bit<8>  ecn_rounds;
    bit<32> address_mask;
    /// First cell of the port, and the packet's column in each row.
    bit<32> base;
    bit<32> column_0;
    bit<32> column_1;
    /// R x BpR, the start of the current round.
    bid_t   round_begin;
    /// Distance from `round_begin` to the packet's bid.
    bit<32> ahead_bytes;
    bit<8>  ahead_rounds;
    bit<32> charge_bytes;
}

parser Parse(packet_in packet, out headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(standard.instance_type) {
            INSTANCE_GENERATED: accept;
            default: ethernet;
        }
    }
    state ethernet {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(headers.ipv4);
        transition accept;
    }
}

control Verify(inout headers_t headers, inout metadata_t meta) { apply {} }

/// One row of the sketch (section 3.2): S = max(S, R x BpR) + size; unchanged if the new bid is too far ahead.
control Row(in metadata_t meta, in bit<32> column, out bit<32> bid_ahead) {
    register<bid_t>(COLUMNS * PORTS) bids;
    apply {
        bid_t bid;
        @atomic {
            bids.read(bid, meta.base + column);
            bid_ahead = bid - meta.round_begin;
            if (bid_ahead > meta.limit_bytes) { bid_ahead = 0; }
            bid_ahead = bid_ahead + meta.charge_bytes;
            if (bid_ahead < meta.limit_bytes) { bids.write(meta.base + column, meta.round_begin + bid_ahead); }
        }
    }
}

control ingress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    Row() row_0;
    Row() row_1;
    counter(PORTS, CounterType.packets) too_far_ahead;

#include "../routes.p4"

    /// Sets a port's first cell, BpR, and the minimum rounds ahead for an ECN mark (section 5); 255 disables marking.
    /// Flows are identified by their addresses under `address_mask`.
    action queue_fairly(bit<32> base, bit<32> bytes_per_round, bit<8> ecn_rounds, bit<32> address_mask) {
        meta.base = base;
        meta.bytes_per_round = bytes_per_round;
        meta.ecn_rounds = ecn_rounds;
        meta.address_mask = address_mask;
    }
    table fair_ports {
        key = { standard.egress_spec: exact; }
        actions = { queue_fairly; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    action charge(bit<32> factor) {
        // The factor is 65,536 / weight, and the charge is at least 1 B.
        bit<64> bytes = (bit<64>) (standard.packet_length + CHECK_SEQUENCE_BYTES) * (bit<64>) factor;
        meta.charge_bytes = (bit<32>) ((bytes + 32768) >> 16);
    }
    /// Charge of a class: each byte counts 65,536 / weight (section 3.4).
    table weights {
        key = { headers.ipv4.dscp: exact; }
        actions = { charge; }
        default_action = charge(65536);
        size = 64;
    }

    action set_rounds(bit<8> rounds) { meta.ahead_rounds = rounds; }
    /// Division by BpR: one range for each round with a queue.
    table rounds_ahead {
        key = { meta.ahead_bytes: range; }
        actions = { set_rounds; }
        default_action = set_rounds(0);
        size = 64;
    }

    apply {
        if (standard.instance_type == INSTANCE_GENERATED) {
            drop();
            return;
        }
        routes.apply();
        if (!fair_ports.apply().hit) { return; }

        bit<32> round;
        queue_t first_queue;
        bit<8> queues;
        current_round(standard.egress_spec, round, first_queue, queues);
        weights.apply();
        if (meta.charge_bytes == 0) { meta.charge_bytes = 1; }
        meta.round_begin = round * meta.bytes_per_round;
        meta.limit_bytes = (bit<32>) queues * meta.bytes_per_round;

        bit<32> hash_of_flow;
        flow_hash(hash_of_flow);
        bit<32> source = headers.ipv4.source & meta.address_mask;
        bit<32> destination = headers.ipv4.destination & meta.address_mask;
        bit<64> key = hash_of_flow ++ (source ^ (destination[15:0] ++ destination[31:16]));
        hash(meta.column_0, HashAlgorithm.crc32, 32w0, { key }, COLUMNS);
        hash(meta.column_1, HashAlgorithm.crc16, 32w0, { key }, COLUMNS);

        bit<32> bid_0;
        bit<32> bid_1;
        row_0.apply(meta, meta.column_0, bid_0);
        row_1.apply(meta, meta.column_1, bid_1);
        meta.ahead_bytes = bid_0;
        if (bid_1 < bid_0) { meta.ahead_bytes = bid_1; }
        if (meta.ahead_bytes >= meta.limit_bytes) {
            too_far_ahead.count((bit<32>) standard.egress_spec);
            drop();
            return;
        }
        rounds_ahead.apply();
        if (meta.ahead_rounds >= meta.ecn_rounds && headers.ipv4.isValid() && headers.ipv4.ecn != 0) {
            headers.ipv4.ecn = 3;
        }
        // nQ is a power of two.
        bit<8> queue = ((bit<8>) round + meta.ahead_rounds) & (queues - 1);
        send_to_queue(standard.egress_spec, first_queue + queue);
    }
}

control egress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) { apply {} }

control Compute(inout headers_t headers, inout metadata_t meta) {
    apply {
        update_checksum(headers.ipv4.isValid(), IPV4_CHECKSUM_FIELDS(headers.ipv4), headers.ipv4.checksum,
                        HashAlgorithm.csum16);
    }
}

control Deparse(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
    }
}

V1Switch(Parse(), Verify(), ingress(), egress(), Compute(), Deparse()) main;
