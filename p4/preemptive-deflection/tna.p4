// Preemptive Deflection by quantiles for Tofino (Practical Packet Deflection, CoNEXT 2023, section 4.2): a circular
// window of sampled ranks, a register array for each place, is compared with the rank of a packet; a table says from
// the depth of the queue and the number of smaller ranks whether the packet is deflected (equation 1, computed
// beforehand).

#include <core.p4>
#include <tna.p4>
#include "../tna.p4"

const bit<16> ETHERTYPE_CONTROL = 0x9D11;
const bit<8> PROTOCOL_PRIORITY_MARK = 253;
/// The port that recirculates.
const PortId_t RECIRCULATION_PORT = 68;

/// The packet that takes the depth of a port's queue from egress to ingress.
header control_t {
    bit<16> port;
    bit<32> depth_cells;
}

header priority_mark_t {
    bit<32> rank_bytes;
    bit<16> flowlet;
    bit<1>  is_first;
    bit<2>  reserved;
    bit<5>  retransmissions;
    bit<8>  protocol;
}

struct headers_t {
    ethernet_t      ethernet;
    control_t       control_packet;
    ipv4_t          ipv4;
    priority_mark_t mark;
}

/// Writes `DO(place)` for each place of the window: twelve, four for each stage.
#define EACH_PLACE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

struct metadata_t {
    bit<7>  port;
    bit<32> rank;
    bit<32> depth_cells;
    /// One packet in 16 enters the window, at the place whose turn it is; 255: this one does not.
    bit<8>  place;
    bit<8>  sampled;
    bit<1>  smaller_0;
    bit<1>  smaller_1;
    bit<1>  smaller_2;
    bit<1>  smaller_3;
    bit<1>  smaller_4;
    bit<1>  smaller_5;
    bit<1>  smaller_6;
    bit<1>  smaller_7;
    bit<1>  smaller_8;
    bit<1>  smaller_9;
    bit<1>  smaller_10;
    bit<1>  smaller_11;
    bit<4>  smaller;
    bit<4>  drawn;
}

parser IngressParse(packet_in packet, out headers_t headers, out metadata_t meta,
                    out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_CONTROL: control_packet;
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state control_packet {
        packet.extract(headers.control_packet);
        transition accept;
    }
    state ipv4 {
        packet.extract(headers.ipv4);
        transition select(headers.ipv4.protocol) {
            PROTOCOL_PRIORITY_MARK: mark;
            default: accept;
        }
    }
    state mark {
        packet.extract(headers.mark);
        transition accept;
    }
}

control Ingress(inout headers_t headers, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    action send(PortId_t port, bit<7> index) {
        for_tm.ucast_egress_port = port;
        meta.port = index;
    }
    action drop() { for_deparser.drop_ctl = 1; }
    table routes {
        key = { headers.ipv4.destination: lpm; }
        actions = { send; drop; }
        default_action = drop();
        size = 1024;
    }

    action take_rank() { meta.rank = headers.mark.rank_bytes; }
    action take_half() { meta.rank = headers.mark.rank_bytes >> 1; }
    action take_quarter() { meta.rank = headers.mark.rank_bytes >> 2; }
    action take_eighth() { meta.rank = headers.mark.rank_bytes >> 3; }
    action take_least() { meta.rank = 0; }
    /// Each retransmission halves the rank; from the fourth on a packet is the most urgent.
    table ranks {
        key = { headers.mark.retransmissions: exact; }
        actions = { take_rank; take_half; take_quarter; take_eighth; take_least; }
        const entries = {
            0: take_rank();
            1: take_half();
            2: take_quarter();
            3: take_eighth();
        }
        const default_action = take_least();
        size = 4;
    }

    Register<bit<32>, bit<7>>(128, 0) depths;
    RegisterAction<bit<32>, bit<7>, bit<32>>(depths) read_depth = {
        void apply(inout bit<32> value, out bit<32> depth) { depth = value; }
    };
    RegisterAction<bit<32>, bit<7>, bit<32>>(depths) write_depth = {
        void apply(inout bit<32> value) { value = headers.control_packet.depth_cells; }
    };

    /// How many packets since one was taken.
    Register<bit<8>, bit<7>>(128, 0) skipped;
    RegisterAction<bit<8>, bit<7>, bit<8>>(skipped) skip = {
        void apply(inout bit<8> value, out bit<8> is_taken) {
            is_taken = 0;
            if (value >= 15) {
                value = 0;
                is_taken = 1;
            } else {
                value = value + 1;
            }
        }
    };
    /// The place of the oldest.
    Register<bit<8>, bit<7>>(128, 0) oldest;
    RegisterAction<bit<8>, bit<7>, bit<8>>(oldest) move_on = {
        void apply(inout bit<8> value, out bit<8> place) {
            place = value;
            if (value >= 11) { value = 0; } else { value = value + 1; }
        }
    };

    /// A place of the window: the rank is compared with what is there, or takes its place.
#define PLACE(number) \
    Register<bit<32>, bit<7>>(128, 0) window_##number; \
    RegisterAction<bit<32>, bit<7>, bit<1>>(window_##number) compare_##number = { \
        void apply(inout bit<32> value, out bit<1> is_smaller) { \
            is_smaller = 0; \
            if (value < meta.rank) { is_smaller = 1; } \
        } \
    }; \
    RegisterAction<bit<32>, bit<7>, bit<1>>(window_##number) replace_##number = { \
        void apply(inout bit<32> value, out bit<1> is_smaller) { \
            is_smaller = 0; \
            if (value < meta.rank) { is_smaller = 1; } \
            value = meta.rank; \
        } \
    }; \
    action do_compare_##number() { meta.smaller_##number = compare_##number.execute(meta.port); } \
    action do_replace_##number() { meta.smaller_##number = replace_##number.execute(meta.port); } \
    table place_##number { \
        key = { meta.place: exact; } \
        actions = { do_compare_##number; do_replace_##number; } \
        const entries = { number: do_replace_##number(); } \
        const default_action = do_compare_##number(); \
        size = 1; \
    }
    EACH_PLACE(PLACE)

    action set_smaller(bit<4> smaller) { meta.smaller = smaller; }
    /// How many places hold a smaller rank.
    table count_smaller {
        key = {
            meta.smaller_0: exact;
            meta.smaller_1: exact;
            meta.smaller_2: exact;
            meta.smaller_3: exact;
            meta.smaller_4: exact;
            meta.smaller_5: exact;
            meta.smaller_6: exact;
            meta.smaller_7: exact;
            meta.smaller_8: exact;
            meta.smaller_9: exact;
            meta.smaller_10: exact;
            meta.smaller_11: exact;
        }
        actions = { set_smaller; }
        default_action = set_smaller(0);
        size = 4096;
    }

    Random<bit<4>>() random;
    action go_to(PortId_t port) { for_tm.ucast_egress_port = port; }
    /// Equation 1: whether a queue of this depth takes a packet with so many smaller ranks in the window, and where a
    /// packet goes that it does not take.
    table admit {
        key = {
            meta.port: ternary;
            meta.smaller: exact;
            meta.depth_cells: ternary;
            meta.drawn: ternary;
        }
        actions = { go_to; drop; NoAction; }
        default_action = NoAction();
        size = 2048;
    }

    apply {
        if (headers.control_packet.isValid()) {
            write_depth.execute((bit<7>) headers.control_packet.port);
            for_tm.ucast_egress_port = RECIRCULATION_PORT;
        } else if (headers.ipv4.isValid()) {
            routes.apply();
            if (headers.mark.isValid()) { ranks.apply(); }
            meta.depth_cells = read_depth.execute(meta.port);
            meta.drawn = random.get();
            meta.place = 255;
            meta.sampled = skip.execute(meta.port);
            if (meta.sampled == 1) { meta.place = move_on.execute(meta.port); }
#define APPLY_PLACE(number) place_##number.apply();
            EACH_PLACE(APPLY_PLACE)
            count_smaller.apply();
            admit.apply();
        }
    }
}

control IngressDeparse(packet_out packet, inout headers_t headers, in metadata_t meta,
                       in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(headers); }
}

struct egress_headers_t {
    ethernet_t ethernet;
    control_t  control_packet;
}

struct egress_metadata_t {
    bit<7>  port;
    bit<32> depth_cells;
}

parser EgressParse(packet_in packet, out egress_headers_t headers, out egress_metadata_t meta,
                   out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta = { 0, 0 };
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_CONTROL: control_packet;
            default: accept;
        }
    }
    state control_packet {
        packet.extract(headers.control_packet);
        transition accept;
    }
}

control Egress(inout egress_headers_t headers, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Register<bit<32>, bit<7>>(128, 0) depths;
    RegisterAction<bit<32>, bit<7>, bit<32>>(depths) note = {
        void apply(inout bit<32> value) { value = meta.depth_cells; }
    };
    RegisterAction<bit<32>, bit<7>, bit<32>>(depths) read_depth = {
        void apply(inout bit<32> value, out bit<32> depth) { depth = value; }
    };
    action tell() { headers.control_packet.depth_cells = read_depth.execute((bit<7>) headers.control_packet.port); }

    action set_port(bit<7> port) { meta.port = port; }
    table ports {
        key = { intrinsic.egress_port: exact; }
        actions = { set_port; }
        default_action = set_port(0);
        size = 128;
    }

    apply {
        if (headers.control_packet.isValid()) {
            tell();
        } else {
            ports.apply();
            meta.depth_cells = (bit<32>) intrinsic.deq_qdepth;
            note.execute(meta.port);
        }
    }
}

control EgressDeparse(packet_out packet, inout egress_headers_t headers, in egress_metadata_t meta,
                      in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(headers); }
}

Pipeline(IngressParse(), Ingress(), IngressDeparse(), EgressParse(), Egress(), EgressDeparse()) pipe;
Switch(pipe) main;
