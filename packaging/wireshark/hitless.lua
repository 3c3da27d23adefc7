-- Wireshark dissector of hitless' link format, version 1: crates/wire/src/link describes it.
--
-- Copy it to the folder of personal Lua plugins (Help, About, Folders), or: tshark -X lua_script:hitless.lua -r FILE.
-- The EtherType is a preference of the protocol; 0x88b5 unless the link was told another one.

local hitless = Proto("hitless", "hitless link")

local KINDS = {
    [1] = "LinkGuardian data",
    [2] = "LinkGuardian acknowledgement",
    [3] = "LinkGuardian loss",
    [4] = "Pause",
    [5] = "LinkGuardian message",
    [6] = "RIMM detour",
    [7] = "RIMM depth",
    [8] = "RIMM message",
    [9] = "Priority",
    [10] = "Detours",
}
local BYTES = { [1] = 3, [2] = 3, [3] = 4, [4] = 3, [5] = 4, [6] = 8, [7] = 2, [8] = 5, [9] = 7, [10] = 1 }
local MESSAGES = { [1] = "Start", [2] = "Started", [3] = "Ask for start", [4] = "Probe", [5] = "Answer", [6] = "Request" }
local TYPES = { [0] = "data", [1] = "acknowledgement", [2] = "acknowledgement with loss", [3] = "sender's copy" }

local fields = {
    version = ProtoField.uint8("hitless.version", "Version"),
    has_inner = ProtoField.bool("hitless.has_inner", "Carries a frame", 8, nil, 0x80),
    reserved = ProtoField.uint8("hitless.reserved", "Reserved", base.HEX, nil, 0x70),
    count = ProtoField.uint8("hitless.count", "Shims", base.DEC, nil, 0x0f),
    kind = ProtoField.uint8("hitless.kind", "Kind", base.DEC, KINDS),
    data_type = ProtoField.uint8("hitless.data.type", "Type", base.DEC, TYPES, 0xc0),
    data_channel = ProtoField.uint8("hitless.data.channel", "Channel", base.DEC, nil, 0x20),
    data_era = ProtoField.uint8("hitless.data.era", "Era", base.DEC, nil, 0x10),
    data_retransmitted = ProtoField.bool("hitless.data.retransmitted", "Retransmitted", 8, nil, 0x08),
    data_dummy = ProtoField.bool("hitless.data.dummy", "Dummy", 8, nil, 0x04),
    data_blocking = ProtoField.bool("hitless.data.blocking", "Blocking", 8, nil, 0x02),
    data_sequence = ProtoField.uint16("hitless.data.sequence", "Sequence number"),
    ack_piggybacked = ProtoField.bool("hitless.ack.piggybacked", "Piggybacked", 8, nil, 0x20),
    ack_era = ProtoField.uint8("hitless.ack.era", "Era", base.DEC, nil, 0x10),
    ack_channel = ProtoField.uint8("hitless.ack.channel", "Channel", base.DEC, nil, 0x08),
    ack_number = ProtoField.uint16("hitless.ack.number", "Acknowledged"),
    loss_count = ProtoField.uint8("hitless.loss.count", "Lost in a row"),
    loss_first = ProtoField.uint16("hitless.loss.first", "First lost"),
    loss_era = ProtoField.uint8("hitless.loss.era", "Era"),
    pause_class = ProtoField.uint8("hitless.pause.class", "Class"),
    pause_quanta = ProtoField.uint16("hitless.pause.quanta", "Quanta (0 resumes)"),
    message_kind = ProtoField.uint8("hitless.message.kind", "Message", base.DEC, MESSAGES, 0xf0),
    message_channel = ProtoField.uint8("hitless.message.channel", "Channel", base.DEC, nil, 0x08),
    message_era = ProtoField.uint8("hitless.message.era", "Era", base.DEC, nil, 0x04),
    message_argument = ProtoField.uint8("hitless.message.argument", "Argument", base.DEC, nil, 0x03),
    message_sequence = ProtoField.uint16("hitless.message.sequence", "Sequence number"),
    detour_sequence = ProtoField.uint32("hitless.detour.sequence", "Sequence number"),
    detour_origin = ProtoField.uint8("hitless.detour.origin", "Switch that numbered it"),
    detour_count = ProtoField.uint8("hitless.detour.count", "Detours"),
    depth = ProtoField.uint16("hitless.depth", "Depth of a queue, segments"),
    told_origin = ProtoField.uint8("hitless.told.origin", "Switch that reads it"),
    told_repeated = ProtoField.bool("hitless.told.repeated", "Said before", 8, nil, 0x80),
    told_port = ProtoField.uint16("hitless.told.port", "Port", base.DEC, nil, 0x7fff),
    mark_rank = ProtoField.uint32("hitless.mark.rank", "Rank, bytes"),
    mark_flowlet = ProtoField.uint16("hitless.mark.flowlet", "Flowlet"),
    mark_first = ProtoField.bool("hitless.mark.first", "First of it", 8, nil, 0x80),
    mark_retransmissions = ProtoField.uint8("hitless.mark.retransmissions", "Sent before", base.DEC, nil, 0x1f),
    inner_bytes = ProtoField.uint16("hitless.inner_bytes", "Length of the frame"),
}
hitless.fields = fields

local malformed = ProtoExpert.new("hitless.malformed", "Not version 1 of the link format", expert.group.MALFORMED, expert.severity.ERROR)
hitless.experts = { malformed }
hitless.prefs.ether_type = Pref.uint("EtherType", 0x88b5, "The type of the link's frames")

local function data(tree, bytes)
    local flags = bytes(0, 1)
    for _, name in ipairs({ "type", "channel", "era", "retransmitted", "dummy", "blocking" }) do
        tree:add(fields["data_" .. name], flags)
    end
    tree:add(fields.data_sequence, bytes(1, 2))
    local value = flags:uint()
    local what = "Data"
    if bit.band(value, 4) ~= 0 then
        what = "Dummy"
    elseif bit.band(value, 8) ~= 0 then
        what = "Repair"
    end
    return what .. " " .. bytes(1, 2):uint()
end

local function acknowledgement(tree, bytes)
    tree:add(fields.ack_piggybacked, bytes(0, 1))
    tree:add(fields.ack_era, bytes(0, 1))
    tree:add(fields.ack_channel, bytes(0, 1))
    tree:add(fields.ack_number, bytes(1, 2))
    return "Ack " .. bytes(1, 2):uint()
end

local function loss(tree, bytes)
    tree:add(fields.loss_count, bytes(0, 1))
    tree:add(fields.loss_first, bytes(1, 2))
    tree:add(fields.loss_era, bytes(3, 1))
    return "Lost " .. bytes(0, 1):uint() .. " from " .. bytes(1, 2):uint()
end

local function pause(tree, bytes)
    tree:add(fields.pause_class, bytes(0, 1))
    tree:add(fields.pause_quanta, bytes(1, 2))
    return (bytes(1, 2):uint() == 0 and "Resume" or "Pause") .. " class " .. bytes(0, 1):uint()
end

local function message(tree, bytes)
    for _, name in ipairs({ "kind", "channel", "era", "argument" }) do
        tree:add(fields["message_" .. name], bytes(0, 1))
    end
    tree:add(fields.message_sequence, bytes(2, 2))
    local kind = bit.rshift(bytes(0, 1):uint(), 4)
    return (MESSAGES[kind] or "Message") .. " " .. bytes(2, 2):uint()
end

local function detour(tree, bytes)
    tree:add(fields.detour_sequence, bytes(0, 4))
    tree:add(fields.detour_origin, bytes(4, 1))
    tree:add(fields.detour_count, bytes(5, 1))
    tree:add(fields.depth, bytes(6, 2))
    return "Detour " .. bytes(0, 4):uint()
end

local function depth(tree, bytes)
    tree:add(fields.depth, bytes(0, 2))
    return "Depth " .. bytes(0, 2):uint()
end

local function told(tree, bytes)
    tree:add(fields.told_origin, bytes(0, 1))
    tree:add(fields.told_repeated, bytes(1, 1))
    tree:add(fields.told_port, bytes(1, 2))
    tree:add(fields.depth, bytes(3, 2))
    return "Told depth " .. bytes(3, 2):uint()
end

local function mark(tree, bytes)
    tree:add(fields.mark_rank, bytes(0, 4))
    tree:add(fields.mark_flowlet, bytes(4, 2))
    tree:add(fields.mark_first, bytes(6, 1))
    tree:add(fields.mark_retransmissions, bytes(6, 1))
    return "Rank " .. bytes(0, 4):uint()
end

local function detours(tree, bytes)
    tree:add(fields.detour_count, bytes(0, 1))
    return "Detours " .. bytes(0, 1):uint()
end

local DISSECT = {
    [1] = data, [2] = acknowledgement, [3] = loss, [4] = pause, [5] = message,
    [6] = detour, [7] = depth, [8] = told, [9] = mark, [10] = detours,
}

-- Answers where the next shim begins and what to say of this one; nil when it is unknown or cut short.
local function shim(tree, buffer, at)
    if at >= buffer:len() then
        return nil
    end
    local kind = buffer(at, 1):uint()
    local length = BYTES[kind]
    if not length or at + 1 + length > buffer:len() then
        return nil
    end
    local branch = tree:add(hitless, buffer(at, 1 + length), KINDS[kind])
    branch:add(fields.kind, buffer(at, 1))
    return at + 1 + length, DISSECT[kind](branch, buffer(at + 1, length))
end

function hitless.dissector(buffer, packet, tree)
    packet.cols.protocol = "hitless"
    local root = tree:add(hitless, buffer())
    if buffer:len() < 2 or buffer(0, 1):uint() ~= 1 then
        root:add_proto_expert_info(malformed)
        return
    end
    root:add(fields.version, buffer(0, 1))
    root:add(fields.has_inner, buffer(1, 1))
    root:add(fields.reserved, buffer(1, 1))
    root:add(fields.count, buffer(1, 1))
    local counts = buffer(1, 1):uint()
    local at, said = 2, {}
    for _ = 1, bit.band(counts, 0x0f) do
        local next_at, text = shim(root, buffer, at)
        if not next_at then
            root:add_proto_expert_info(malformed)
            return
        end
        at = next_at
        said[#said + 1] = text
    end
    packet.cols.info = table.concat(said, ", ")
    if counts < 0x80 then
        return
    end
    if at + 2 > buffer:len() or at + 2 + buffer(at, 2):uint() > buffer:len() then
        root:add_proto_expert_info(malformed)
        return
    end
    local length = buffer(at, 2):uint()
    root:add(fields.inner_bytes, buffer(at, 2))
    root:set_len(at + 2)
    -- The inner frame's dissectors write their own summary; ours stands before it.
    packet.cols.info:append(" | ")
    packet.cols.info:fence()
    Dissector.get("eth_withoutfcs"):call(buffer(at + 2, length):tvb(), packet, tree)
end

local types = DissectorTable.get("ethertype")
local registered = hitless.prefs.ether_type
types:add(registered, hitless)

function hitless.prefs_changed()
    types:remove(registered, hitless)
    registered = hitless.prefs.ether_type
    types:add(registered, hitless)
end
