// The sending end of a protected link (sections 3.1, 3.2 and 3.5, appendix A).

/// Reads the acknowledgement on a frame of the reverse direction, with the losses it reports.
control TakeAcknowledgement(in headers_t headers) {
#define SET_REQUEST(place) \
    if (headers.loss.count > place) { \
        request_##place.write((bit<32>) (headers.loss.first_lost + place), 1); \
    }

    apply {
        number_t acknowledged = NUMBER(headers.ack.era, headers.ack.acknowledged);
        number_t before;
        number_t next;
        acknowledged_until.read(before, 0);
        next_sequence.read(next, 0);
        number_t progress = acknowledged + 1 - before;
        // An acknowledgement neither goes back nor exceeds the sent numbers.
        if (progress != 0 && progress <= next - before) {
            acknowledged_until.write(0, acknowledged + 1);
            if (headers.loss.isValid()) {
                number_t first = NUMBER(headers.loss.era[0:0], headers.loss.first_lost);
                number_t last = first + (number_t) headers.loss.count - 1;
                // Only losses that this acknowledgement newly covers.
                if (first - before < HALF_CIRCLE && acknowledged - last < HALF_CIRCLE) {
                    SET_REQUEST(0)
                    SET_REQUEST(1)
                    SET_REQUEST(2)
                    SET_REQUEST(3)
                    SET_REQUEST(4)
                }
            }
        }
    }
}

/// Decides about a copy that has recirculated (figure 18): wait, retransmit or drop.
control JudgeCopy(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
#define TAKE_REQUEST(place) \
    request_##place.read(one, index); \
    any = any | one; \
    request_##place.write(index, 0);

    apply {
        number_t first_open;
        acknowledged_until.read(first_open, 0);
        number_t number = NUMBER(headers.data.era, headers.data.sequence);
        if (number - first_open < HALF_CIRCLE) {
            meta.role = ROLE_COPY;
            send_to_queue(meta.recirculation_port, 0);
        } else {
            bit<32> index = (bit<32>) headers.data.sequence;
            bit<1> any = 0;
            bit<1> one;
            TAKE_REQUEST(0)
            TAKE_REQUEST(1)
            TAKE_REQUEST(2)
            TAKE_REQUEST(3)
            TAKE_REQUEST(4)
            if (any == 0) {
                mark_to_drop(standard);
            } else {
                meta.role = ROLE_REPAIR;
                if (meta.copies == 2) {
                    meta.clone_role = ROLE_REPAIR;
                    clone_preserving_field_list(CloneType.I2E, 1, MOVED_FIELDS);
                    direct_clone(meta.link_port, REPAIR_QUEUE);
                }
                send_to_queue(meta.link_port, REPAIR_QUEUE);
            }
        }
    }
}

/// Numbers a packet that leaves on the link, and keeps a copy.
control Protect(inout headers_t headers, inout metadata_t meta) {
    apply {
        number_t number;
        next_sequence.read(number, 0);
        next_sequence.write(0, number + 1);
        headers.link.shims = headers.link.shims + 1;
        headers.data.setValid();
        headers.data.kind = KIND_DATA;
        headers.data.packet_type = TYPE_DATA;
        headers.data.channel = 0;
        headers.data.era = number[16:16];
        headers.data.retransmitted = 0;
        headers.data.dummy = 0;
        headers.data.blocking = 1;
        headers.data.rx_buffered = 0;
        headers.data.sequence = number[15:0];
        meta.clone_role = ROLE_COPY;
        clone_preserving_field_list(CloneType.E2E, 1, MOVED_FIELDS);
        direct_clone(meta.recirculation_port, 0);
        // Dummies follow as soon as the other queues are empty (section 3.2).
        if (meta.dummies != 0) {
            dummies_pending.write(0, meta.dummies);
            resume_queue(meta.link_port, DUMMY_QUEUE);
        }
    }
}

/// Stamps the dummy with the next number and puts another in its place (self-replenishing queue, section 3.2).
control SendDummy(inout headers_t headers, inout metadata_t meta) {
    MakeLinkFrame() make_link_frame;
    apply {
        number_t number;
        bit<8> pending;
        next_sequence.read(number, 0);
        dummies_pending.read(pending, 0);
        pending = pending |-| 1;
        dummies_pending.write(0, pending);
        if (pending == 0) { pause_queue(meta.link_port, DUMMY_QUEUE); }
        make_link_frame.apply(headers, 1);
        headers.data.setValid();
        headers.data.kind = KIND_DATA;
        headers.data.packet_type = TYPE_DATA;
        headers.data.channel = 0;
        headers.data.era = number[16:16];
        headers.data.retransmitted = 0;
        headers.data.dummy = 1;
        headers.data.blocking = 1;
        headers.data.rx_buffered = 0;
        headers.data.sequence = number[15:0];
        meta.clone_role = ROLE_DUMMY;
        clone_preserving_field_list(CloneType.E2E, 1, MOVED_FIELDS);
        direct_clone(meta.link_port, DUMMY_QUEUE);
        truncate(60);
    }
}
