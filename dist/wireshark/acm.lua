-- Wireshark's view of acm: packets of acm's traces (link type USER0), and ACM datagrams (class 0x2C) in any capture.
--
-- tshark -X lua_script:dist/wireshark/acm.lua -r testdata/traces/cold-name.pcapng
-- For Wireshark put this file into its folder for personal plugins (Help, About, Folders).
--
-- Formats: the page of the crate acm-trace; acm-wire's modules client and multicast.

local trace = Proto("acm_trace", "acm trace")
local datagram = Proto("acm", "InfiniBand ACM datagram")

local opcodes = { [1] = "RESOLVE", [2] = "PERF", [3] = "EP", [0x81] = "RESOLVE answer", [0x82] = "PERF answer", [0x83] = "EP answer" }
local statuses = {
    [0] = "success", [1] = "ENOMEM", [2] = "EINVAL", [3] = "ENODATA", [5] = "ENOTCONN", [6] = "ETIMEDOUT",
    [7] = "ESRCADDR", [8] = "ESRCTYPE", [9] = "EDESTADDR", [10] = "EDESTTYPE",
}
local address_types = { [0] = "none", [1] = "name", [2] = "IPv4", [3] = "IPv6", [4] = "GID", [5] = "LID", [0x10] = "path" }
local methods = { [0x01] = "request", [0x81] = "response" }
local controls = { [0x0001] = "resolve", [0x8000] = "ack" }
local kinds = {
    [0x01] = "start", [0x02] = "end", [0x03] = "lost", [0x04] = "timeout",
    [0x10] = "client_opened", [0x11] = "client_message", [0x12] = "client_gone", [0x13] = "kernel_request",
    [0x14] = "kernel_address_request", [0x15] = "kernel_timeout", [0x16] = "source_selected", [0x17] = "sa_answer",
    [0x18] = "sa_report", [0x19] = "sa_failed", [0x1a] = "datagram", [0x1b] = "endpoint_opened",
    [0x1c] = "endpoint_lost", [0x1d] = "endpoint_failed", [0x1e] = "port_up", [0x1f] = "port_down",
    [0x20] = "client_reregister", [0x21] = "address_added", [0x22] = "address_removed", [0x23] = "preloaded",
    [0x24] = "configure", [0x25] = "interfaces", [0x26] = "shutdown",
    [0x40] = "reply", [0x41] = "long_reply", [0x42] = "kernel_reply", [0x43] = "kernel_refusal",
    [0x44] = "close_client", [0x45] = "select_source", [0x46] = "sa_send", [0x47] = "sa_reply",
    [0x48] = "open_endpoint", [0x49] = "close_endpoint", [0x4a] = "attach", [0x4b] = "detach", [0x4c] = "send",
    [0x4d] = "log", [0x4e] = "shutdown_done",
}

local f = {
    magic = ProtoField.string("acm_trace.magic", "Magic"),
    major = ProtoField.uint8("acm_trace.major", "Major version"),
    minor = ProtoField.uint8("acm_trace.minor", "Minor version"),
    kind = ProtoField.uint16("acm_trace.kind", "Kind", base.HEX, kinds),
    client = ProtoField.string("acm_trace.client", "Client"),
    lost = ProtoField.uint64("acm_trace.lost", "Facts lost"),
    words = ProtoField.string("acm_trace.words", "Headers"),
    bytes = ProtoField.bytes("acm_trace.bytes", "Bytes"),
    event = ProtoField.string("acm_trace.event", "Event"),
    version = ProtoField.uint8("acm_client.version", "Version"),
    opcode = ProtoField.uint8("acm_client.opcode", "Opcode", base.HEX, opcodes),
    status = ProtoField.uint8("acm_client.status", "Status", base.DEC, statuses),
    data = ProtoField.bytes("acm_client.data", "Data"),
    length = ProtoField.uint16("acm_client.length", "Length"),
    tid = ProtoField.bytes("acm_client.tid", "Transaction id"),
    counter = ProtoField.uint64("acm_client.counter", "Counter"),
    entry_flags = ProtoField.uint32("acm_client.entry.flags", "Flags", base.HEX),
    entry_source = ProtoField.bool("acm_client.entry.source", "Source", 32, nil, 0x1),
    entry_dest = ProtoField.bool("acm_client.entry.dest", "Destination", 32, nil, 0x2),
    entry_nodelay = ProtoField.bool("acm_client.entry.nodelay", "Do not wait", 32, nil, 0x40000000),
    entry_sa = ProtoField.bool("acm_client.entry.query_sa", "Ask subnet administration", 32, nil, 0x80000000),
    entry_type = ProtoField.uint16("acm_client.entry.type", "Type", base.DEC, address_types),
    kernel_id = ProtoField.uint32("acm_kernel.id", "Request"),
    kernel_has_port = ProtoField.bool("acm_kernel.has_port", "Names a port"),
    kernel_port = ProtoField.uint32("acm_kernel.port", "Port"),
    name = ProtoField.string("acm.name", "Name"),
    ipv4 = ProtoField.ipv4("acm.ipv4", "IPv4 address"),
    ipv6 = ProtoField.ipv6("acm.ipv6", "IPv6 address"),
    gid = ProtoField.ipv6("acm.gid", "GID"),
    lid = ProtoField.uint16("acm.lid", "LID"),
    service_id = ProtoField.uint64("acm_path.service_id", "Service id", base.HEX),
    dgid = ProtoField.ipv6("acm_path.dgid", "Destination GID"),
    sgid = ProtoField.ipv6("acm_path.sgid", "Source GID"),
    dlid = ProtoField.uint16("acm_path.dlid", "Destination LID"),
    slid = ProtoField.uint16("acm_path.slid", "Source LID"),
    flow_label = ProtoField.uint32("acm_path.flow_label", "Flow label", base.HEX, nil, 0x0fffff00),
    hop_limit = ProtoField.uint32("acm_path.hop_limit", "Hop limit", base.DEC, nil, 0xff),
    traffic_class = ProtoField.uint8("acm_path.traffic_class", "Traffic class"),
    reversible = ProtoField.bool("acm_path.reversible", "Reversible", 8, nil, 0x80),
    num_path = ProtoField.uint8("acm_path.num_path", "Paths", base.DEC, nil, 0x7f),
    pkey = ProtoField.uint16("acm_path.pkey", "P_Key", base.HEX),
    qos_class = ProtoField.uint16("acm_path.qos_class", "QoS class", base.DEC, nil, 0xfff0),
    sl = ProtoField.uint16("acm_path.sl", "Service level", base.DEC, nil, 0x000f),
    mtu = ProtoField.uint8("acm_path.mtu", "MTU code", base.DEC, nil, 0x3f),
    rate = ProtoField.uint8("acm_path.rate", "Rate code", base.DEC, nil, 0x3f),
    life_time = ProtoField.uint8("acm_path.life_time", "Packet life time code", base.DEC, nil, 0x3f),
    preference = ProtoField.uint8("acm_path.preference", "Preference"),
    answer_in = ProtoField.framenum("acm.answer_in", "Answer in", base.NONE, frametype.RESPONSE),
    answer_to = ProtoField.framenum("acm.answer_to", "Answer to", base.NONE, frametype.REQUEST),
    time = ProtoField.double("acm.time", "Seconds since the request"),
}
-- Fields by the place of their use alone are all of one protocol: Wireshark does not mind.
local all = {}
for _, field in pairs(f) do
    all[#all + 1] = field
end
trace.fields = all

local m = {
    base = ProtoField.uint8("acm.mad.base_version", "Base version"),
    class = ProtoField.uint8("acm.mad.class", "Class", base.HEX),
    version = ProtoField.uint8("acm.mad.class_version", "Class version"),
    method = ProtoField.uint8("acm.mad.method", "Method", base.HEX, methods),
    status = ProtoField.uint16("acm.mad.status", "Status", base.HEX),
    control = ProtoField.uint16("acm.mad.control", "Control", base.HEX, controls),
    tid = ProtoField.uint64("acm.mad.tid", "Transaction id", base.HEX),
    dest_type = ProtoField.uint8("acm.mad.dest_type", "Destination type", base.DEC, address_types),
    dest_length = ProtoField.uint8("acm.mad.dest_length", "Destination length"),
    src_type = ProtoField.uint8("acm.mad.src_type", "Source type", base.DEC, address_types),
    src_length = ProtoField.uint8("acm.mad.src_length", "Source length"),
    gid_count = ProtoField.uint8("acm.mad.gid_count", "Groups"),
    dest = ProtoField.string("acm.mad.dest", "Destination"),
    src = ProtoField.string("acm.mad.src", "Source"),
    group = ProtoField.ipv6("acm.mad.group", "Group"),
}
all = {}
for _, field in pairs(m) do
    all[#all + 1] = field
end
datagram.fields = all

-- Requests that wait for their answer, by what both have in common; pairs that were found, by the packet of either.
local waiting, answers, requests = {}, {}, {}

local function clear()
    waiting, answers, requests = {}, {}, {}
end
trace.init = clear

-- A request that is sent again is one: time counts from the first packet of it.
local function asked(pinfo, key)
    if not pinfo.visited and waiting[key] == nil then
        waiting[key] = { number = pinfo.number, time = pinfo.rel_ts }
    end
end

local function answered(pinfo, key)
    if pinfo.visited or waiting[key] == nil then
        return
    end
    local request = waiting[key]
    waiting[key] = nil
    answers[request.number] = pinfo.number
    requests[pinfo.number] = { number = request.number, time = pinfo.rel_ts - request.time }
end

-- Who asked: an answer goes the other way. A capture that is no trace does not say which way a packet went.
local direction = Field.new("frame.p2p_dir")

local function asker(is_answer)
    local found = direction()
    if not found then
        return "somebody"
    end
    return (found.value == 1) ~= is_answer and "other" or "own"
end

local function links(pinfo, tree)
    local answer, request = answers[pinfo.number], requests[pinfo.number]
    if answer then
        tree:add(f.answer_in, answer):set_generated()
    end
    if request then
        tree:add(f.answer_to, request.number):set_generated()
        tree:add(f.time, request.time):set_generated()
    end
end

-- The address in 64 bytes: its text.
local function address(kind, range)
    if kind == 1 then
        return range:stringz()
    elseif kind == 2 then
        return tostring(range(0, 4):ipv4())
    elseif kind == 3 or kind == 4 then
        return tostring(range(0, 16):ipv6())
    elseif kind == 5 then
        return "LID " .. range(0, 2):uint()
    end
    return "type " .. kind
end

local function add_address(kind, range, tree)
    if kind == 1 then
        tree:add(f.name, range, range:stringz())
    elseif kind == 2 then
        tree:add(f.ipv4, range(0, 4))
    elseif kind == 3 then
        tree:add(f.ipv6, range(0, 16))
    elseif kind == 4 then
        tree:add(f.gid, range(0, 16))
    elseif kind == 5 then
        tree:add(f.lid, range(0, 2))
    else
        tree:add(f.bytes, range)
    end
    return address(kind, range)
end

local function add_path(range, tree)
    local path = tree:add(trace, range, "Path record")
    path:add(f.service_id, range(0, 8))
    path:add(f.dgid, range(8, 16))
    path:add(f.sgid, range(24, 16))
    path:add(f.dlid, range(40, 2))
    path:add(f.slid, range(42, 2))
    path:add(f.flow_label, range(44, 4))
    path:add(f.hop_limit, range(44, 4))
    path:add(f.traffic_class, range(48, 1))
    path:add(f.reversible, range(49, 1))
    path:add(f.num_path, range(49, 1))
    path:add(f.pkey, range(50, 2))
    path:add(f.qos_class, range(52, 2))
    path:add(f.sl, range(52, 2))
    path:add(f.mtu, range(54, 1))
    path:add(f.rate, range(55, 1))
    path:add(f.life_time, range(56, 1))
    path:add(f.preference, range(57, 1))
    return string.format("path LID %d to %d", range(42, 2):uint(), range(40, 2):uint())
end

-- RESOLVE has numbers in its machine's order, which is little endian on every machine that has InfiniBand today.
local function add_entries(range, tree)
    local words = ""
    local at = 0
    while at + 72 <= range:len() do
        local own = range(at, 72)
        local kind = own(4, 2):le_uint()
        local entry = tree:add(trace, own, "Entry")
        entry:add_le(f.entry_flags, own(0, 4))
        entry:add_le(f.entry_source, own(0, 4))
        entry:add_le(f.entry_dest, own(0, 4))
        entry:add_le(f.entry_nodelay, own(0, 4))
        entry:add_le(f.entry_sa, own(0, 4))
        entry:add_le(f.entry_type, own(4, 2))
        local text
        if kind == 0x10 then
            text = add_path(own(8, 64), entry)
        else
            text = add_address(kind, own(8, 64), entry)
        end
        entry:append_text(": " .. text)
        words = words .. " " .. text
        at = at + 72
    end
    if at < range:len() then
        tree:add(f.bytes, range(at))
    end
    return words
end

local function add_message(range, pinfo, tree, client, is_answer)
    if range:len() < 16 then
        if range:len() > 0 then
            tree:add(f.bytes, range)
        end
        return range:len() .. " bytes"
    end
    local message = tree:add(trace, range, "Client message")
    local opcode = range(1, 1):uint()
    local is_resolve = opcode % 0x80 == 1
    message:add(f.version, range(0, 1))
    message:add(f.opcode, range(1, 1))
    message:add(f.status, range(2, 1))
    message:add(f.data, range(3, 3))
    if is_resolve then
        message:add_le(f.length, range(6, 2))
    else
        message:add(f.length, range(6, 2))
    end
    message:add(f.tid, range(8, 8))
    local key = "client " .. client .. " " .. tostring(range(8, 8):bytes())
    if is_answer then
        answered(pinfo, key)
    else
        asked(pinfo, key)
    end
    local words = (opcodes[opcode] or string.format("opcode %#x", opcode))
    if is_answer then
        local status = range(2, 1):uint()
        words = words .. " " .. (statuses[status] or status)
    end
    if range:len() > 16 then
        local body = range(16)
        if is_resolve then
            words = words .. add_entries(body, message)
        elseif opcode == 0x82 then
            for at = 0, body:len() - 8, 8 do
                message:add(f.counter, body(at, 8))
            end
        else
            message:add(f.bytes, body)
        end
    end
    return words
end

local json = Dissector.get("json")

local function add_kernel(range, pinfo, tree, is_answer)
    tree:add(f.kernel_id, range(0, 4))
    if not is_answer then
        tree:add(f.kernel_has_port, range(4, 4), range(4, 4):uint() ~= 0)
        tree:add(f.kernel_port, range(8, 4))
    end
    local id = range(0, 4):uint()
    if is_answer then
        answered(pinfo, "kernel " .. id)
    else
        asked(pinfo, "kernel " .. id)
    end
    return id .. " " .. add_path(range(12, 64), tree)
end

-- What the core says to its administrator: its name is the first of the inner ones.
local function event_name(text)
    return text:match('{"Log":{"Ibacmp":{"(%w+)"') or text:match('{"Log":{"(%w+)"') or text:match('{"Log":"(%w+)"')
end

local function add_text(range, pinfo, tree, kind)
    local text = range:string()
    local id = text:match('"id":(%d+)')
    if kind == 0x14 and id then
        asked(pinfo, "kernel " .. id)
    elseif kind == 0x43 and id then
        answered(pinfo, "kernel " .. id)
    end
    local event = event_name(text)
    if event then
        tree:add(f.event, range, event)
    end
    json:call(range:tvb(), pinfo, tree)
    return event or (#text <= 60 and text or "")
end

function trace.dissector(tvb, pinfo, root)
    if tvb:len() < 8 or tvb(0, 4):string() ~= "ACMT" then
        return 0
    end
    local kind = tvb(6, 2):uint()
    local name = kinds[kind] or string.format("kind %#x", kind)
    local tree = root:add(trace, tvb(), "acm " .. name)
    tree:add(f.magic, tvb(0, 4))
    tree:add(f.major, tvb(4, 1))
    tree:add(f.minor, tvb(5, 1))
    tree:add(f.kind, tvb(6, 2))
    local words = ""
    -- Another core: what the one before waited for, nobody answers.
    if kind == 0x01 and not pinfo.visited then
        waiting = {}
    end
    if tvb:len() > 8 then
        local body = tvb(8)
        if kind == 0x11 or kind == 0x40 or kind == 0x41 then
            local client = body(0, 4):uint() .. "." .. body(4, 4):uint()
            tree:add(f.client, body(0, 8), client)
            local message = body:len() > 8 and add_message(body(8), pinfo, tree, client, kind ~= 0x11) or "0 bytes"
            words = "client" .. client .. " " .. message
        elseif kind == 0x13 or kind == 0x42 then
            words = add_kernel(body, pinfo, tree, kind == 0x42)
        elseif kind == 0x03 then
            tree:add(f.lost, body)
        elseif kind == 0x17 or kind == 0x18 or kind == 0x1a then
            local length = body(0, 2):uint()
            tree:add(f.words, body(2, length))
            if body:len() > 2 + length then
                tree:add(f.bytes, body(2 + length))
            end
            words = (body:len() - 2 - length) .. " bytes, " .. body(2, length):string()
        else
            words = add_text(body, pinfo, tree, kind)
        end
    end
    links(pinfo, tree)
    pinfo.cols.protocol = "ACM"
    pinfo.cols.info = name .. " " .. words
    pinfo.cols.src = kind < 0x40 and "outside" or "core"
    pinfo.cols.dst = kind < 0x40 and "core" or "outside"
    return tvb:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, trace)

function datagram.dissector(tvb, pinfo, root)
    local tree = root:add(datagram, tvb(0, 256))
    tree:add(m.base, tvb(0, 1))
    tree:add(m.class, tvb(1, 1))
    tree:add(m.version, tvb(2, 1))
    tree:add(m.method, tvb(3, 1))
    tree:add(m.status, tvb(4, 2))
    tree:add(m.control, tvb(6, 2))
    tree:add(m.tid, tvb(8, 8))
    tree:add(m.dest_type, tvb(16, 1))
    tree:add(m.dest_length, tvb(17, 1))
    tree:add(m.src_type, tvb(18, 1))
    tree:add(m.src_length, tvb(19, 1))
    tree:add(m.gid_count, tvb(20, 1))
    local dest = address(tvb(16, 1):uint(), tvb(24, 64))
    local src = address(tvb(18, 1):uint(), tvb(88, 64))
    tree:add(m.dest, tvb(24, 64), dest)
    tree:add(m.src, tvb(88, 64), src)
    -- Six fit, whatever the count says.
    for group = 0, math.min(tvb(20, 1):uint(), 6) - 1 do
        tree:add(m.group, tvb(152 + 16 * group, 16))
    end
    local method = tvb(3, 1):uint()
    local key = "datagram " .. asker(method == 0x81) .. " " .. tostring(tvb(8, 8):bytes())
    if method == 0x01 then
        asked(pinfo, key)
    elseif method == 0x81 then
        answered(pinfo, key)
    end
    links(pinfo, tree)
    pinfo.cols.protocol = "ACM"
    local what = methods[method] or string.format("method %#x", method)
    if method == 0x01 then
        what = what .. ": " .. src .. " asks for " .. dest
    end
    pinfo.cols.info = string.format("%s, transaction %s", what, tostring(tvb(8, 8):bytes()))
    return 256
end

-- Datagrams of the class go to queue pairs of their own, where Wireshark takes them for data.
datagram:register_heuristic("infiniband.payload", function(tvb, pinfo, root)
    if tvb:len() < 256 or tvb(0, 1):uint() ~= 1 or tvb(1, 1):uint() ~= 0x2c then
        return false
    end
    datagram.dissector(tvb, pinfo, root)
    return true
end)
