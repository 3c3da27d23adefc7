// Parser and deparser of programs that only read the switch's generated header, Ethernet and IPv4.

parser Parse(packet_in packet, out headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(standard.instance_type) {
            INSTANCE_GENERATED: generated;
            default: ethernet;
        }
    }
    state generated {
        packet.extract(headers.generated);
        transition accept;
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

control Deparse(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.generated);
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
    }
}
