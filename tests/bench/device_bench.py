#!/usr/bin/env python3
"""Kernels of the CUDA module against the card's own copy rate and against torch, in one process on one card.

usage: device_bench.py KERNELS.fatbin [--parameters 7.62e9]

Needs a device, torch and cupy. Compares two states of a model of bf16 tensors of usual shapes; every result is compared
with torch's before it is timed. Times are medians of events around a launch; D counts bytes read and written by a copy
on the device.
"""
import argparse
import statistics

import cupy
import numpy
import torch

BLOCK = 16384
PAIR = numpy.dtype([("before", "u8"), ("after", "u8"), ("out", "u8"), ("elements", "u8"), ("first_block", "u8")])
CHANGES = numpy.dtype([("first", "u8"), ("count", "u4"), ("sum", "u4")])
PIECE = numpy.dtype([("positions", "u8"), ("bits", "u8"), ("count", "u8"), ("kind", "u8"), ("out", "u8")])
REPLAY = numpy.dtype([("block", "u8"), ("elements", "u8"), ("first_piece", "u8"), ("pieces", "u8")])
REPLAY_BLOCK = 65536  # elements of bf16 in a block of a replay
COUNTS = 5  # numbers of DevicePatchCounts
MOMENTS_BYTES = 88


def shapes(parameters):
    """Sizes of tensors as a dense model has them, until there are so many parameters."""
    left = int(parameters)
    sizes = [min(left, 545_000_000)]
    left -= sizes[0]
    layer = [67_895_296] * 3 + [12_845_056] * 2 + [1_835_008] * 2 + [3584] * 2
    while left > 0:
        for size in layer:
            if left > 0:
                sizes.append(min(size, left))
                left -= sizes[-1]
    return sizes


def timed(work, rounds=9):
    """Milliseconds of one call, the median."""
    times = []
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def on_device(array):
    return torch.from_numpy(array.view(numpy.uint8).reshape(-1)).cuda()


class Kernels:
    def __init__(self, path):
        self.module = cupy.RawModule(path=path)

    def launch(self, name, grid, threads, *fields):
        words = numpy.array([int(field) for field in fields], dtype=numpy.uint64)
        argument = words.view(numpy.dtype((numpy.void, words.nbytes)))[0]
        # The default stream of both: torch waits for it.
        self.module.get_function(name)((int(grid),), (threads,), (argument,))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kernels")
    parser.add_argument("--parameters", type=float, default=7.62e9)
    options = parser.parse_args()
    kernels = Kernels(options.kernels)
    sizes = shapes(options.parameters)
    elements = sum(sizes)
    # One allocation for each state, every tensor aligned as torch aligns its own.
    places, total = [], 0
    for size in sizes:
        places.append(total)
        total += (size + 255) // 256 * 256
    before = torch.randint(-32768, 32767, (total,), dtype=torch.int16, device="cuda")
    after = torch.empty_like(before)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}, "
          f"{elements / 1e9:.2f} B elements in {len(sizes)} tensors")
    ms = timed(lambda: after.copy_(before))
    rate = 2 * before.numel() * 2 / ms / 1e9
    print(f"copy on the device                {ms:8.2f} ms  D = {rate:.2f} TB/s")

    pairs, blocks = numpy.zeros(len(sizes), PAIR), 0
    for i, (place, size) in enumerate(zip(places, sizes)):
        pairs[i] = (before.data_ptr() + 2 * place, after.data_ptr() + 2 * place, 0, size, blocks)
        blocks += (size + BLOCK - 1) // BLOCK
    jobs = on_device(pairs)
    kept = torch.empty_like(before)
    pairs["out"] = [kept.data_ptr() + 2 * place for place in places]
    updating = on_device(pairs)
    of_block = on_device(numpy.repeat(numpy.arange(len(sizes), dtype=numpy.uint32),
                                      [(size + BLOCK - 1) // BLOCK for size in sizes]))
    changes = torch.zeros(blocks * CHANGES.itemsize, dtype=torch.uint8, device="cuda")
    moments = torch.zeros(blocks * MOMENTS_BYTES, dtype=torch.uint8, device="cuda")
    used = torch.zeros(1, dtype=torch.int64, device="cuda")
    read = 2 * elements * 2

    def row(what, ms, bytes_read=read):
        print(f"{what:34}{ms:8.2f} ms  {bytes_read / ms / 1e9 / rate:.2f} D")

    for density in (0.0, 0.002, 0.01, 0.03, 0.1):
        after.copy_(before)
        for begin in range(0, total, 1 << 28):  # in parts, for the random numbers
            part = after[begin:begin + (1 << 28)]
            part ^= (torch.rand(part.numel(), device="cuda") < density).to(torch.int16)
        room = int(elements * (density * 1.2 + 0.001))
        positions = torch.zeros(room, dtype=torch.int16, device="cuda")
        values = torch.zeros(room, dtype=torch.int16, device="cuda")

        def extract(pairs=jobs):
            used.zero_()
            kernels.launch("extract_2", blocks, 512, pairs.data_ptr(), of_block.data_ptr(), blocks, changes.data_ptr(),
                           positions.data_ptr(), values.data_ptr(), room, used.data_ptr())

        def torch_way(check=None):
            for i, (place, size) in enumerate(zip(places, sizes)):
                fresh = after[place:place + size]
                found = torch.ne(before[place:place + size], fresh).nonzero().view(-1)
                bits = fresh.index_select(0, found)
                if check:
                    check(i, found, bits)

        extract()
        torch.cuda.synchronize()
        table = changes.cpu().numpy().view(CHANGES)

        def check(i, found, bits):
            first = int(pairs[i]["first_block"])
            last = first + (sizes[i] + BLOCK - 1) // BLOCK
            assert int(table["count"][first:last].sum()) == found.numel(), f"tensor {i}: other counts than torch's"
            for block in (first, last - 1, first + (last - first) // 2):
                begin, n = int(table["first"][block]), int(table["count"][block])
                at = found[(found // BLOCK) == block - first] - (block - first) * BLOCK
                assert torch.equal(positions[begin:begin + n].to(torch.int64) & 0xffff, at), f"tensor {i}: positions"
                mask = (found // BLOCK) == block - first
                assert torch.equal(values[begin:begin + n], bits[mask]), f"tensor {i}: bits"

        torch_way(check)
        print(f"{density:.1%} changed ({int(used.item()) / elements:.2%})")
        ours = timed(extract)
        row("  compare and compact", ours)
        kept.copy_(before)
        updates = timed(lambda: extract(updating))
        row("  and write what changed to a copy", updates)
        assert all(torch.equal(kept[place:place + size], after[place:place + size]) for place, size in zip(places, sizes)), \
            "the copy is not what was compared"
        theirs = timed(torch_way, 3)
        row("  torch: ne, nonzero, index_select", theirs)
        print(f"  {'torch / ours':32}{theirs / ours:8.1f} x")
        row("  moments", timed(lambda: kernels.launch("moments_BF16", (blocks + 7) // 8, 256, jobs.data_ptr(),
                                                      of_block.data_ptr(), blocks, moments.data_ptr()), 5))
        if density == 0.01:
            hashes(kernels, before, rate)
            for deltas in (1, 10):
                replay(kernels, before, after, deltas)


def replay(kernels, before, after, deltas):
    """Applies several deltas of 1 % to a state, all of them to a block before the next block."""
    starts = torch.arange(0, before.numel(), REPLAY_BLOCK, device="cuda")
    copied = timed(lambda: after.copy_(before))
    pieces, keep = numpy.zeros((len(starts), deltas), PIECE), []
    for delta in range(deltas):
        found = [(torch.rand(min(1 << 28, before.numel() - begin), device="cuda") < 0.01).nonzero().view(-1) + begin
                 for begin in range(0, before.numel(), 1 << 28)]
        positions = torch.cat(found)
        bits = torch.randint(-32768, 32767, (positions.numel(),), dtype=torch.int16, device="cuda")
        after[positions] = bits
        first = torch.searchsorted(positions, starts).cpu().numpy().astype(numpy.uint64)
        relative = (positions % REPLAY_BLOCK).to(torch.int32)
        keep += [relative, bits]
        pieces["positions"][:, delta] = relative.data_ptr() + 4 * first
        pieces["bits"][:, delta] = bits.data_ptr() + 2 * first
        pieces["count"][:, delta] = numpy.diff(numpy.append(first, numpy.uint64(positions.numel())))
    numbers = numpy.arange(len(starts), dtype=numpy.uint64)
    table = numpy.zeros(len(starts), REPLAY)
    table["block"] = before.data_ptr() + 2 * REPLAY_BLOCK * numbers
    table["elements"] = numpy.minimum(REPLAY_BLOCK, before.numel() - REPLAY_BLOCK * numbers)
    table["first_piece"] = deltas * numbers
    table["pieces"] = deltas
    jobs, of_blocks = on_device(table), on_device(pieces)
    counts = torch.zeros(pieces.size * COUNTS, dtype=torch.int64, device="cuda")

    def run():
        kernels.launch("replay_2", len(starts), 256, jobs.data_ptr(), len(starts), of_blocks.data_ptr(),
                       counts.data_ptr(), 0, 0x7fff, 0x7f80, 0x8000)

    run()
    assert torch.equal(before, after), "replayed to other bits"
    ms = timed(run)
    print(f"  {f'replay of {deltas} deltas of 1 %':32}{ms:8.2f} ms  and a copy of the state {copied:.2f} ms: "
          f"{(ms + copied) / copied:.2f} copies")


def hashes(kernels, before, rate):
    leaf = 1 << 20
    count = before.numel() * 2 // leaf
    table = numpy.zeros(count, numpy.dtype([("bytes", "u8"), ("size", "u8")]))
    table["bytes"] = before.data_ptr() + numpy.arange(count, dtype=numpy.uint64) * leaf
    table["size"] = leaf
    jobs = on_device(table)
    digests = torch.zeros(2 * count, dtype=torch.int64, device="cuda")
    secret = [0] * 24  # any will do for a rate
    ms = timed(lambda: kernels.launch("hash_leaves", (count + 3) // 4, 32, jobs.data_ptr(), count, digests.data_ptr(),
                                      *secret), 5)
    print(f"  {'XXH3 of leaves of 1 MiB':32}{ms:8.2f} ms  {count * leaf / ms / 1e9 / rate:.2f} D")


if __name__ == "__main__":
    main()
