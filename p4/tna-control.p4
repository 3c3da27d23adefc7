// Headers and parser of the deflecting programs' egress: Ethernet, followed by control_t in a control packet.

struct egress_headers_t {
    ethernet_t ethernet;
    control_t  control_packet;
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

control EgressDeparse(packet_out packet, inout egress_headers_t headers, in egress_metadata_t meta,
                      in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(headers); }
}
