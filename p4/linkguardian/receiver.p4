// The receiving end of a protected link (sections 3.1 to 3.3 and 3.5, algorithms 1 and 2, appendix A).

/// Maximum gap that counts as a loss, because one notification can report 255 numbers.
const number_t GAP_MAX = 255;
/// Maximum distance of the latest number from the next one to forward.
const number_t WINDOW = 32768 - 255;

/// Returns the time left until the packet at the front is given up.
control UntilTimeout(in metadata_t meta, in bit<48> from, out bit<32> wait_ns) {
    apply {
        bit<48> deadline = from + (bit<48>) meta.timeout_ns;
        wait_ns = 0;
        if (deadline > meta.now_ns) { wait_ns = (bit<32>) (deadline - meta.now_ns); }
    }
}

/// ackNoTimeout: gives up the packet at the front after a timeout.
control CountDown(in metadata_t meta) {
    UntilTimeout() until_timeout;
    apply {
        number_t next;
        number_t front;
        expected.read(next, 0);
        ack_number.read(front, 0);
        if (front == next) {
            countdown_is_armed.write(0, 0);
        } else {
            bit<48> from;
            bit<32> wait_ns;
            countdown_from.read(from, 0);
            until_timeout.apply(meta, from, wait_ns);
            if (wait_ns == 0) {
                ack_number.write(0, front + 1);
                countdown_from.write(0, meta.now_ns);
                wait_ns = meta.timeout_ns;
            }
            start_timer(wait_ns, 0);
        }
    }
}

/// Removes the link's headers, and forwards the packet as on an unprotected link.
control Deliver(inout headers_t headers) {
    apply {
        headers.outer.setInvalid();
        headers.link.setInvalid();
        headers.data.setInvalid();
        headers.inner.setInvalid();
    }
}

/// Algorithm 1: forward, wait or drop.
control PutInOrder(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    Deliver() deliver;
    apply {
        number_t front;
        ack_number.read(front, 0);
        number_t ahead = NUMBER(headers.data.era, headers.data.sequence) - front;
        if (headers.data.blocking == 0) {
            // LinkGuardianNB forwards every packet.
            if (ahead < HALF_CIRCLE) { ack_number.write(0, front + ahead + 1); }
            deliver.apply(headers);
        } else if (ahead >= HALF_CIRCLE) {
            mark_to_drop(standard);
        } else if (ahead == 0) {
            ack_number.write(0, front + 1);
            countdown_from.write(0, meta.now_ns);
            deliver.apply(headers);
        } else {
            headers.data.rx_buffered = 1;
            meta.role = ROLE_BUFFERED;
            send_to_queue(meta.recirculation_port, 0);
        }
    }
}

/// Reports missing numbers to the sender, and starts the countdown.
control NotifyLoss(inout metadata_t meta) {
    UntilTimeout() until_timeout;
    apply {
        meta.clone_role = ROLE_LOSS;
        clone_preserving_field_list(CloneType.I2E, 1, MOVED_FIELDS);
        direct_clone(meta.link_port, REPAIR_QUEUE);
        bit<1> is_armed;
        number_t front;
        countdown_is_armed.read(is_armed, 0);
        ack_number.read(front, 0);
        if (is_armed == 0 || front == meta.first_lost) { countdown_from.write(0, meta.now_ns); }
        if (is_armed == 0) {
            bit<32> wait_ns;
            countdown_is_armed.write(0, 1);
            until_timeout.apply(meta, meta.now_ns, wait_ns);
            start_timer(wait_ns, 0);
        }
    }
}

/// Passes the number of an in-order packet to egress, where acknowledgements read it.
control Publish(in metadata_t meta, in number_t until) {
    apply {
        seen.write(0, until);
        has_news.write(0, 1);
        resume_queue(meta.link_port, ACK_QUEUE);
    }
}

/// Processes a frame with a data header from the link, and returns whether it must be put in order.
control TakeFromLink(in headers_t headers, inout metadata_t meta, out bit<1> is_in_turn) {
    NotifyLoss() notify_loss;
    Publish() publish_next;
    Publish() publish_late;
    apply {
        number_t number = NUMBER(headers.data.era, headers.data.sequence);
        number_t next;
        number_t front;
        expected.read(next, 0);
        ack_number.read(front, 0);
        number_t gap = number - next;
        is_in_turn = 0;
        if (headers.data.retransmitted == 1) {
            // A retransmission answers a notification, so its number is below the expected one.
            if (gap >= HALF_CIRCLE) { is_in_turn = 1; }
            return;
        }
        number_t behind = number + 1;
        if (headers.data.dummy == 1) { behind = number; }
        bool is_near = number - front <= WINDOW || number - front >= HALF_CIRCLE;
        number_t guess;
        bit<1> has_guess;
        suspect.read(guess, 0);
        has_suspect.read(has_guess, 0);
        if (gap <= GAP_MAX && is_near) {
            has_suspect.write(0, 0);
            expected.write(0, behind);
            is_in_turn = ~headers.data.dummy;
            if (gap != 0) {
                meta.first_lost = next;
                meta.lost = gap[7:0];
                meta.seen_until = behind - 1;
                notify_loss.apply(meta);
            } else if (headers.data.dummy == 0) {
                publish_next.apply(meta, behind);
            }
        } else if (next - number <= GAP_MAX) {
            // A number reported as lost has arrived after all.
            has_suspect.write(0, 0);
            publish_late.apply(meta, next);
            is_in_turn = ~headers.data.dummy;
        } else if (has_guess == 1 && guess == number) {
            // Two consecutive frames show that the numbers continue elsewhere.
            has_suspect.write(0, 0);
            expected.write(0, behind);
            ack_number.write(0, number);
            publish_next.apply(meta, behind);
            is_in_turn = ~headers.data.dummy;
        } else {
            suspect.write(0, behind);
            has_suspect.write(0, 1);
        }
    }
}

/// Writes an acknowledgement, in egress.
control Acknowledge(inout headers_t headers, in metadata_t meta, in bit<1> piggybacked, out bit<8> pending) {
    apply {
        number_t until;
        bit<1> is_news;
        seen.read(until, 0);
        has_news.read(is_news, 0);
        acks_pending.read(pending, 0);
        if (is_news == 1) { pending = meta.acks; }
        pending = pending |-| 1;
        has_news.write(0, 0);
        acks_pending.write(0, pending);
        number_t last = until - 1;
        headers.link.shims = headers.link.shims + 1;
        headers.ack.setValid();
        headers.ack.kind = KIND_ACK;
        headers.ack.packet_type = TYPE_ACK;
        headers.ack.piggybacked = piggybacked;
        headers.ack.era = last[16:16];
        headers.ack.channel = 0;
        headers.ack.zero = 0;
        headers.ack.acknowledged = last[15:0];
    }
}

/// Stamps the explicit acknowledgement and puts another in its place (section 3.1).
control SendAcknowledgement(inout headers_t headers, inout metadata_t meta) {
    MakeLinkFrame() make_link_frame;
    Acknowledge() acknowledge;
    apply {
        bit<8> pending;
        make_link_frame.apply(headers, 0);
        acknowledge.apply(headers, meta, 0, pending);
        if (pending == 0) { pause_queue(meta.link_port, ACK_QUEUE); }
        meta.clone_role = ROLE_ACK;
        clone_preserving_field_list(CloneType.E2E, 1, MOVED_FIELDS);
        direct_clone(meta.link_port, ACK_QUEUE);
        truncate(60);
    }
}

/// Stamps a loss notification. Later acknowledgements may cover the numbers that it acknowledges, earlier ones may not.
control SendNotification(inout headers_t headers, in metadata_t meta) {
    MakeLinkFrame() make_link_frame;
    apply {
        number_t until;
        seen.read(until, 0);
        if (meta.seen_until + 1 - until < HALF_CIRCLE) { seen.write(0, meta.seen_until + 1); }
        has_news.write(0, 0);
        acks_pending.write(0, 0);
        make_link_frame.apply(headers, 2);
        headers.ack.setValid();
        headers.ack.kind = KIND_ACK;
        headers.ack.packet_type = TYPE_ACK;
        headers.ack.piggybacked = 0;
        headers.ack.era = meta.seen_until[16:16];
        headers.ack.channel = 0;
        headers.ack.zero = 0;
        headers.ack.acknowledged = meta.seen_until[15:0];
        headers.loss.setValid();
        headers.loss.kind = KIND_LOSS;
        headers.loss.count = meta.lost;
        headers.loss.first_lost = meta.first_lost[15:0];
        headers.loss.era = (bit<8>) meta.first_lost[16:16];
        truncate(60);
    }
}

/// Algorithm 2: tests the depth when a packet of the reordering buffer leaves the recirculation port.
control WatchDepth(inout metadata_t meta) {
    apply {
        bit<32> depth_bytes;
        bit<1> was_pausing;
        bit<1> wanted = 0;
        queue_depth(meta.recirculation_port, 0, depth_bytes);
        is_pausing.read(was_pausing, 0);
        if (depth_bytes >= meta.pause_bytes || (was_pausing == 1 && depth_bytes > meta.resume_bytes)) { wanted = 1; }
        if (wanted != was_pausing) {
            is_pausing.write(0, wanted);
            meta.clone_role = ROLE_PAUSE;
            clone_preserving_field_list(CloneType.E2E, 1, MOVED_FIELDS);
            direct_clone(meta.link_port, REPAIR_QUEUE);
        }
    }
}

/// Fills a pause frame at its departure, with the state at that time.
control SendPause(inout headers_t headers) {
    MakeLinkFrame() make_link_frame;
    apply {
        bit<1> pauses;
        is_pausing.read(pauses, 0);
        make_link_frame.apply(headers, 1);
        headers.pause.setValid();
        headers.pause.kind = KIND_PAUSE;
        headers.pause.class = 0;
        headers.pause.quanta = 0;
        if (pauses == 1) { headers.pause.quanta = 0xFFFF; }
        truncate(60);
    }
}
