// AFQ for Tofino (Sharma et al., NSDI 2018): the enqueue module of figure 3, with the sketch of the paper's table 1.
// The traffic manager has no rotating priorities; a recirculating control packet writes the round of its scheduler
// (section 4, "the disaggregated model").

#include <core.p4>
#include <tna.p4>
#include "../tna.p4"

/// Columns of each of the two rows (section 6.3).
const bit<32> COLUMNS = 2048;
const bit<16> ETHERTYPE_ROUND = 0x9D10;

/// Control packet with the round of a port in bytes, R x BpR; BpR is 2048.
header round_t {
    bit<16> port;
    bit<32> begin_bytes;
}

struct headers_t {
    ethernet_t ethernet;
    round_t    round;
    ipv4_t     ipv4;
    ports_t    ports;
}

struct metadata_t {
    bit<9>  port;
    bit<32> round_begin;
    bit<32> charge_bytes;
    bit<32> charged_0;
    bit<32> charged_1;
    int<32> lag_0;
    int<32> lag_1;
    int<32> idle_0;
    int<32> idle_1;
    bit<32> ahead_0;
    bit<32> ahead_1;
    bit<32> ahead_bytes;
    bit<32> round;
    bit<11> column_0;
    bit<11> column_1;
}

parser IngressParse(packet_in packet, out headers_t headers, out metadata_t meta,
                    out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_ROUND: round;
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state round {
        packet.extract(headers.round);
        transition accept;
    }
#include "../tna-ports.p4"
}

control Ingress(inout headers_t headers, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    action send(PortId_t port) {
        for_tm.ucast_egress_port = port;
        meta.port = port;
    }
#include "../tna-routes.p4"

    /// R x BpR of each port.
    Register<bit<32>, bit<9>>(512, 0) rounds;
    RegisterAction<bit<32>, bit<9>, bit<32>>(rounds) read_round = {
        void apply(inout bit<32> value, out bit<32> begin) { begin = value; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(rounds) write_round = {
        void apply(inout bit<32> value) { value = headers.round.begin_bytes; }
    };

    /// S = max(S, R x BpR) + size (section 3.2) uses three numbers of a packet, but a stateful ALU takes two. So a bid
    /// is the sum of two arrays: `charged`, the bytes charged, and `idle`, the maximum so far of R x BpR - charged. As
    /// max(S, R x BpR) = charged + max(idle, R x BpR - charged), each array needs one step of one ALU.
#define ROW(number) \
    Register<bit<32>, bit<11>>(COLUMNS, 0) charged_##number; \
    RegisterAction<bit<32>, bit<11>, bit<32>>(charged_##number) charge_##number = { \
        void apply(inout bit<32> value, out bit<32> before) { \
            before = value; \
            value = value + meta.charge_bytes; \
        } \
    }; \
    Register<int<32>, bit<11>>(COLUMNS, 0) idle_##number; \
    RegisterAction<int<32>, bit<11>, int<32>>(idle_##number) raise_##number = { \
        void apply(inout int<32> value, out int<32> idle) { \
            value = max(value, meta.lag_##number); \
            idle = value; \
        } \
    };
    ROW(0)
    ROW(1)
    Hash<bit<11>>(HashAlgorithm_t.CRC32) hash_0;
    Hash<bit<11>>(HashAlgorithm_t.CRC16) hash_1;

    action hash_flow() {
        meta.column_0 = hash_0.get(FLOW(headers));
        meta.column_1 = hash_1.get(FLOW(headers));
    }
    action charge() { meta.charge_bytes = (bit<32>) headers.ipv4.total_bytes; }
    /// Distance from the current round to the start of the packet's bid: max(S, R x BpR) - R x BpR.
#define STEPS(number) \
    action do_charge_##number() { meta.charged_##number = charge_##number.execute(meta.column_##number); } \
    action subtract_##number() { meta.lag_##number = (int<32>) (meta.round_begin - meta.charged_##number); } \
    action do_raise_##number() { meta.idle_##number = raise_##number.execute(meta.column_##number); } \
    action look_ahead_##number() { meta.ahead_##number = (bit<32>) (meta.idle_##number - meta.lag_##number); }
    STEPS(0)
    STEPS(1)
    action add_charge() { meta.ahead_bytes = meta.ahead_bytes + meta.charge_bytes; }

    action to_queue(QueueId_t queue) { for_tm.qid = queue; }
    /// Queue of the packet's round. Division by BpR and the position in the circle of queues are bits of the two keys.
    /// A packet more than 32 rounds ahead is dropped.
    table queue_of_round {
        key = {
            meta.ahead_bytes: ternary;
            meta.round: ternary;
        }
        actions = { to_queue; drop; }
        default_action = drop();
        size = 1024;
    }

    apply {
        if (headers.round.isValid()) {
            write_round.execute((bit<9>) headers.round.port);
            drop();
        } else if (headers.ipv4.isValid()) {
            routes.apply();
            hash_flow();
            charge();
            meta.round_begin = read_round.execute(meta.port);
            do_charge_0();
            do_charge_1();
            subtract_0();
            subtract_1();
            do_raise_0();
            do_raise_1();
            look_ahead_0();
            look_ahead_1();
            meta.ahead_bytes = min(meta.ahead_0, meta.ahead_1);
            add_charge();
            meta.round = meta.round_begin >> 11;
            queue_of_round.apply();
        }
    }
}

control IngressDeparse(packet_out packet, inout headers_t headers, in metadata_t meta,
                       in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(headers); }
}

struct nothing_t {}

parser EgressParse(packet_in packet, out nothing_t headers, out nothing_t meta,
                   out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition accept;
    }
}

control Egress(inout nothing_t headers, inout nothing_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply {}
}

control EgressDeparse(packet_out packet, inout nothing_t headers, in nothing_t meta,
                      in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {}
}

Pipeline(IngressParse(), Ingress(), IngressDeparse(), EgressParse(), Egress(), EgressDeparse()) pipe;
Switch(pipe) main;
