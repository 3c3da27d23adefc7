// LinkGuardian (Joshi et al., SIGCOMM 2023; sections as printed there): link-local retransmission on a link that
// corrupts packets. The upstream switch numbers packets and keeps copies, which circulate through a recirculation port.
// The downstream switch detects gaps, reports them, restores order and acknowledges. This program implements both ends
// of one link.

#include <core.p4>
#include <v1model.p4>
#include "../hitless.p4"
#include "../headers.p4"
#include "headers.p4"
#include "state.p4"
#include "sender.p4"
#include "receiver.p4"

control Verify(inout headers_t headers, inout metadata_t meta) { apply {} }

control ingress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    Settings() settings;
    CountDown() count_down;
    TakeAcknowledgement() take_acknowledgement;
    JudgeCopy() judge_copy;
    TakeFromLink() take_from_link;
    PutInOrder() put_in_order;

#include "../routes.p4"

    /// Stops the queues of the only dummy and the only acknowledgement until there is something to send.
    action start() {
        pause_queue(meta.link_port, DUMMY_QUEUE);
        pause_queue(meta.link_port, ACK_QUEUE);
        meta.role = ROLE_DUMMY;
        meta.clone_role = ROLE_ACK;
        clone_preserving_field_list(CloneType.I2E, 1, MOVED_FIELDS);
        direct_clone(meta.link_port, ACK_QUEUE);
        send_to_queue(meta.link_port, DUMMY_QUEUE);
    }

    apply {
        settings.apply(meta);
        if (headers.generated.isValid()) {
            if (headers.generated.kind == GENERATED_START && meta.link_port != 511) {
                start();
            } else {
                if (headers.generated.kind == GENERATED_TIMER) { count_down.apply(meta); }
                drop();
            }
            return;
        }
        meta.inner_bytes = standard.packet_length[15:0];
        if (headers.inner.isValid()) { meta.inner_bytes = headers.inner.bytes; }
        routes.apply();

        if (standard.ingress_port == meta.recirculation_port && headers.data.isValid()) {
            if (headers.data.packet_type == TYPE_TX_BUFFERED) {
                judge_copy.apply(headers, meta, standard);
            } else {
                put_in_order.apply(headers, meta, standard);
            }
        } else if (standard.ingress_port == meta.link_port && headers.link.isValid()) {
            if (headers.ack.isValid()) {
                if (meta.is_sender == 1) { take_acknowledgement.apply(headers); }
                headers.ack.setInvalid();
                headers.loss.setInvalid();
                headers.link.shims = headers.link.shims - 1;
            }
            bit<1> is_in_turn = 0;
            if (headers.data.isValid() && meta.is_receiver == 1) {
                take_from_link.apply(headers, meta, is_in_turn);
                if (is_in_turn == 1) { put_in_order.apply(headers, meta, standard); } else { drop(); }
            } else if (headers.inner.isValid() && !headers.data.isValid()) {
                headers.outer.setInvalid();
                headers.link.setInvalid();
                headers.inner.setInvalid();
            } else {
                drop();
            }
        }
    }
}

control egress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    Settings() settings;
    Protect() protect;
    SendDummy() send_dummy;
    Acknowledge() acknowledge;
    SendAcknowledgement() send_acknowledgement;
    SendNotification() send_notification;
    WatchDepth() watch_depth;
    SendPause() send_pause;

    /// Encapsulates a whole frame of a host.
    action encapsulate() {
        headers.outer.setValid();
        headers.outer.destination = 0xFFFFFFFFFFFF;
        headers.outer.source = 0;
        headers.outer.ether_type = ETHERTYPE_LINK;
        headers.link.setValid();
        headers.link.version = LINK_VERSION;
        headers.link.has_inner = 1;
        headers.link.zero = 0;
        headers.link.shims = 0;
        headers.inner.setValid();
        headers.inner.bytes = meta.inner_bytes;
    }

    apply {
        bit<4> role = meta.role;
        // A clone has the role that its creator wrote.
        if (standard.instance_type == INSTANCE_INGRESS_CLONE || standard.instance_type == INSTANCE_EGRESS_CLONE) {
            role = meta.clone_role;
        }
        meta.clone_role = ROLE_NONE;
        settings.apply(meta);
        if (role == ROLE_COPY) {
            headers.data.packet_type = TYPE_TX_BUFFERED;
            if (headers.ack.isValid()) {
                headers.ack.setInvalid();
                headers.link.shims = headers.link.shims - 1;
            }
        } else if (role == ROLE_REPAIR) {
            headers.data.packet_type = TYPE_DATA;
            headers.data.retransmitted = 1;
        } else if (role == ROLE_DUMMY) {
            send_dummy.apply(headers, meta);
        } else if (role == ROLE_ACK) {
            send_acknowledgement.apply(headers, meta);
        } else if (role == ROLE_LOSS) {
            send_notification.apply(headers, meta);
        } else if (role == ROLE_PAUSE) {
            send_pause.apply(headers);
        } else if (role == ROLE_BUFFERED) {
            watch_depth.apply(meta);
        } else if (standard.egress_port == meta.link_port) {
            encapsulate();
            if (meta.is_sender == 1) { protect.apply(headers, meta); }
            if (meta.is_receiver == 1) {
                bit<8> pending;
                acknowledge.apply(headers, meta, 1, pending);
            }
        }
    }
}

control Compute(inout headers_t headers, inout metadata_t meta) { apply {} }

V1Switch(Parse(), Verify(), ingress(), egress(), Compute(), Deparse()) main;
