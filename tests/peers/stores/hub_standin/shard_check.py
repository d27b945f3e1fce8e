"""Strict checks of uploaded Xet shards, which local_cas_server does not do: it takes any shard that can be parsed.

After the Xet protocol specification. BLAKE3 in plain Python is slow, but only chunk lists are hashed here.
"""

import struct

DATA_TAG = bytes.fromhex("48465265706f4d6574614461746100556967456a7b815783a5bdd95ccdd14aa9")
NODE_KEY = bytes.fromhex("017ec5c7a5472996fd946666b48a02e65ddd536f37c76dd2f86352e64a53713f")
VERIFY_KEY = bytes.fromhex("7f1857d6ce56ed66127ff913e7a5c3f3a4cd26d5b5db49e64124987f28fb94c3")
ZERO_KEY = bytes(32)

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
MIX = COLUMNS + DIAGONALS
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED = 1, 2, 4, 8, 16


def compress(chain, block, counter, length, flags):
    m = list(struct.unpack("<16I", block))
    v = [*chain, *IV, counter & 0xFFFFFFFF, counter >> 32, length, flags]
    for _ in range(7):
        for i, (a, b, c, d) in enumerate(MIX):
            for word, r1, r2 in ((m[2 * i], 16, 12), (m[2 * i + 1], 8, 7)):
                v[a] = (v[a] + v[b] + word) & 0xFFFFFFFF
                x = v[d] ^ v[a]
                v[d] = (x >> r1 | x << (32 - r1)) & 0xFFFFFFFF
                v[c] = (v[c] + v[d]) & 0xFFFFFFFF
                x = v[b] ^ v[c]
                v[b] = (x >> r2 | x << (32 - r2)) & 0xFFFFFFFF
        m = [m[i] for i in ORDER]
    return [v[i] ^ v[i + 8] for i in range(8)]


def keyed(key, data):
    """BLAKE3 in keyed mode, 32 bytes."""
    words = struct.unpack("<8I", key)

    def node(start, end, flags):
        """Chaining value of the subtree over data[start:end]; start is a multiple of 1024."""
        size = end - start
        if size <= 1024:
            chain, blocks = words, max(1, (size + 63) // 64)
            for i in range(blocks):
                block = data[start + 64 * i : min(end, start + 64 * i + 64)]
                marks = KEYED | (CHUNK_START if i == 0 else 0) | (CHUNK_END | flags if i == blocks - 1 else 0)
                chain = compress(chain, block + bytes(64 - len(block)), start // 1024, len(block), marks)
            return chain
        left = 1024
        while left * 2 < size:
            left *= 2
        pair = struct.pack("<16I", *node(start, start + left, 0), *node(start + left, end, 0))
        return compress(words, pair, 0, 64, KEYED | PARENT | flags)

    return struct.pack("<8I", *node(0, len(data), ROOT))


def text(raw):
    return "".join(f"{w:016x}" for w in struct.unpack("<4Q", raw))


def merkle(nodes):
    """Root over [(hash, length)]."""
    if not nodes:
        return bytes(32)
    while len(nodes) > 1:
        level, i = [], 0
        while i < len(nodes):
            rest = len(nodes) - i
            k = rest if rest <= 2 else min(9, rest)
            for j in range(2, min(9, rest)):
                if nodes[i + j][0][24] % 4 == 0:  # lowest byte of the last word
                    k = j + 1
                    break
            group = nodes[i : i + k]
            lines = "".join(f"{text(h)} : {n}\n" for h, n in group).encode()
            level.append((keyed(NODE_KEY, lines), sum(n for _, n in group)))
            i += k
        nodes = level
    return nodes[0][0]


class ShardError(Exception):
    pass


def need(condition, message):
    if not condition:
        raise ShardError(message)


def check_shard(data, known, exists):
    """Checks one shard in upload form; raises ShardError. Returns its xorbs: hash (text) -> chunk list [(hash, length)].
    `known`: the same of earlier shards; `exists(text)`: whether the xorb has been uploaded."""
    need(len(data) % 48 == 0 or struct.unpack_from("<Q", data, 40)[0], "length is not a multiple of 48")
    need(data[:32] == DATA_TAG, "wrong header tag")
    version, footer = struct.unpack_from("<QQ", data, 32)
    need(version == 2, f"version {version}")
    end = len(data) - footer
    position = 48

    def row():
        nonlocal position
        need(position + 48 <= end, "ends within a section")
        position += 48
        return data[position - 48 : position - 16], data[position - 16 : position]

    files, xorbs = [], {}
    while True:
        file_hash, rest = row()
        if file_hash == b"\xff" * 32:
            break
        flags, n, _ = struct.unpack("<IIQ", rest)
        terms = [(h, *struct.unpack("<IIII", r)) for h, r in (row() for _ in range(n))]
        need(n == 0 or flags & 0x80000000, "a file without verification rows")
        verify = [row()[0] for _ in range(n)] if flags & 0x80000000 else []
        if flags & 0x40000000:
            row()
        files.append((file_hash, terms, verify))
    while True:
        xorb_hash, rest = row()
        if xorb_hash == b"\xff" * 32:
            break
        _, n, raw_bytes, _ = struct.unpack("<IIII", rest)
        chunks, start = [], 0
        for h, r in (row() for _ in range(n)):
            at, length, _, _ = struct.unpack("<IIII", r)
            need(at == start, f"chunk start {at}, not {start}")
            need(0 < length <= 131072, f"chunk length {length}")
            chunks.append((h, length))
            start += length
        need(start == raw_bytes, f"raw bytes of a xorb {raw_bytes}, not {start}")
        need(merkle(chunks) == xorb_hash, f"chunk rows do not give the xorb hash {text(xorb_hash)}")
        xorbs[text(xorb_hash)] = chunks
    need(position == end, "bytes after the xorb section")
    for name in xorbs:
        need(name in known or exists(name), f"xorb {name} has not been uploaded")
    known = {**known, **xorbs}
    for file_hash, terms, verify in files:
        chunks = []
        for (xorb_hash, _, size, first, last), wanted in zip(terms, verify):
            name = text(xorb_hash)
            need(name in known, f"xorb {name} of a term is in no shard")
            part = known[name][first:last]
            need(first < last <= len(known[name]), f"term {first}..{last} of {len(known[name])} chunks")
            need(sum(n for _, n in part) == size, f"term of {size} bytes, its chunks have {sum(n for _, n in part)}")
            need(keyed(VERIFY_KEY, b"".join(h for h, _ in part)) == wanted, "wrong verification hash")
            chunks += part
        root = merkle(chunks)
        need(
            file_hash == (keyed(ZERO_KEY, root) if chunks else root),
            f"file hash {text(file_hash)} does not fit its chunks",
        )
    return xorbs
