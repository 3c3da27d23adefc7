// SQR, Shared Queue Ring (Qu, Joshi, Chan, Leong, Guo, Liu, ICNP 2019; sections and algorithms as printed there).
// Egress keeps a copy of each protected packet until no failure can have lost the original. After a failure it sends
// the copies in order on the backup path. Waiting copies circulate through the queues of the least loaded ports.

#include <core.p4>
#include <v1model.p4>
#include "../hitless.p4"
#include "../headers.p4"
#include "state.p4"
#include "ways.p4"
#include "cache.p4"

#include "../parse.p4"

control Verify(inout headers_t headers, inout metadata_t meta) { apply {} }

control ingress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    Ways() ways;

#include "../routes.p4"

    apply {
        if (headers.generated.isValid()) {
            ways.apply(headers.generated, meta);
            drop();
        } else {
            routes.apply();
        }
    }
}

control egress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    Settings() settings;
    Utilization() utilization;
    Originals() originals;
    Cached() cached;

    action mark() { meta.is_marked = 1; }
    action mark_not() { meta.is_marked = 0; }
    /// Marked services (section III, footnote 2) by port and DSCP.
    table protected {
        key = {
            standard.egress_port: exact;
            headers.ipv4.dscp: ternary;
        }
        actions = { mark; mark_not; }
        default_action = mark_not();
        size = 64;
    }

    apply {
        settings.apply(meta);
        bit<48> now;
        timestamp_ns(now);
        meta.now_ns = now[31:0];
        if (meta.is_cached == 1) {
            least_port.read(meta.least_loaded, 0);
            cached.apply(headers, meta, standard);
        } else if (standard.instance_type != INSTANCE_MOVED) {
            utilization.apply(meta, standard);
            protected.apply();
            originals.apply(meta, standard);
        }
    }
}

control Compute(inout headers_t headers, inout metadata_t meta) { apply {} }

V1Switch(Parse(), Verify(), ingress(), egress(), Compute(), Deparse()) main;
