// Simple Deflection for Tofino (Practical Packet Deflection, CoNEXT 2023, section 4.1). Egress keeps a bitmap of ports
// with long queues; a control packet recirculates forever and carries it to ingress. There a packet for such a port is
// deflected to the first port after a random one with its bit clear.

#include <core.p4>
#include <tna.p4>
#include "../tna.p4"

const bit<16> ETHERTYPE_CONTROL = 0x9D11;
/// Recirculation port.
const PortId_t RECIRCULATION_PORT = 68;

header control_t {
    bit<32> full;
}

struct headers_t {
    ethernet_t ethernet;
    control_t  control_packet;
    ipv4_t     ipv4;
}

struct metadata_t {
    bit<32> own;
    bit<32> full;
    bit<32> is_own_full;
    bit<5>  start;
}

parser IngressParse(packet_in packet, out headers_t headers, out metadata_t meta,
                    out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta = { 0, 0, 0, 0 };
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
        transition accept;
    }
}

control Ingress(inout headers_t headers, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    /// `own` is the bit of the port.
    action send(PortId_t port, bit<32> own) {
        for_tm.ucast_egress_port = port;
        meta.own = own;
    }
#include "../tna-routes.p4"

    Register<bit<32>, bit<1>>(1, 0) full_ports;
    RegisterAction<bit<32>, bit<1>, bit<32>>(full_ports) read_full = {
        void apply(inout bit<32> value, out bit<32> full) { full = value; }
    };
    RegisterAction<bit<32>, bit<1>, bit<32>>(full_ports) write_full = {
        void apply(inout bit<32> value) { value = headers.control_packet.full; }
    };
    Random<bit<5>>() random;

    action mask_own() { meta.is_own_full = meta.full & meta.own; }
    action go_to(PortId_t port) { for_tm.ucast_egress_port = port; }
    /// First clear bit after the random one: an entry for each pair of start and resulting port (appendix E).
    table deflect {
        key = {
            meta.start: exact;
            meta.full: ternary;
        }
        actions = { go_to; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    apply {
        if (headers.control_packet.isValid()) {
            write_full.execute(0);
            for_tm.ucast_egress_port = RECIRCULATION_PORT;
        } else if (headers.ipv4.isValid()) {
            routes.apply();
            meta.full = read_full.execute(0);
            meta.start = random.get();
            mask_own();
            if (meta.is_own_full != 0) { deflect.apply(); }
        }
    }
}

control IngressDeparse(packet_out packet, inout headers_t headers, in metadata_t meta,
                       in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(headers); }
}

struct egress_metadata_t {
    bit<32> own;
    bit<1>  is_long;
}

#include "../tna-control.p4"

control Egress(inout egress_headers_t headers, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Register<bit<32>, bit<1>>(1, 0) full_ports;
    RegisterAction<bit<32>, bit<1>, bit<32>>(full_ports) set_bit = {
        void apply(inout bit<32> value) { value = value | meta.own; }
    };
    RegisterAction<bit<32>, bit<1>, bit<32>>(full_ports) clear_bit = {
        void apply(inout bit<32> value) { value = value & meta.own; }
    };
    RegisterAction<bit<32>, bit<1>, bit<32>>(full_ports) read_bits = {
        void apply(inout bit<32> value, out bit<32> full) { full = value; }
    };

    /// A full queue sets its port's bit: `own` is that bit. Otherwise the bit is cleared: `others` is its complement.
    action is_full(bit<32> own) {
        meta.own = own;
        meta.is_long = 1;
    }
    action is_not_full(bit<32> others) { meta.own = others; }
    table depths {
        key = {
            intrinsic.egress_port: exact;
            intrinsic.deq_qdepth: range;
        }
        actions = { is_full; is_not_full; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    action tell() { headers.control_packet.full = read_bits.execute(0); }

    apply {
        if (headers.control_packet.isValid()) {
            tell();
        } else if (depths.apply().hit) {
            if (meta.is_long == 1) { set_bit.execute(0); } else { clear_bit.execute(0); }
        }
    }
}

Pipeline(IngressParse(), Ingress(), IngressDeparse(), EgressParse(), Egress(), EgressDeparse()) pipe;
Switch(pipe) main;
