// How long a backend takes to apply a piece to a block, as a multiple of the time that memcpy takes to copy as long a
// block, both in cache as they are in a replay. Each pass of a backend is followed by one of memcpy.
//
//   deltascope-bench-apply [PASSES]
//
// Prints a table of medians. The pieces change 1 % of the elements of a block, and each backend has to count exactly
// those; a mismatch ends the program with status 1.
#include "deltascope/engine/backend.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace deltascope;

namespace {

using Bytes = std::vector<std::byte>;

constexpr unsigned PassBlocks = 64; ///< that a pass applies to or copies
constexpr std::size_t ChangedShare = 100; ///< one of so many elements

/// A state that two pieces of one kind bring to and fro.
struct Case {
    Dtype dtype;
    Bytes before, after, mask, bitsBefore, bitsAfter, masks;
    std::vector<std::uint32_t> elements;

    explicit Case(Dtype of)
        : dtype(of)
        , before(blockBytesOf(of))
    {
        std::mt19937 random(1);
        std::generate(before.begin(), before.end(), [&] { return static_cast<std::byte>(random()); });
        after = before;
        mask.resize(before.size());
        const std::size_t width = bitsOf(dtype) / 8;
        std::vector<std::uint32_t> all(before.size() / width);
        std::iota(all.begin(), all.end(), 0U);
        std::sample(all.begin(), all.end(), std::back_inserter(elements), all.size() / ChangedShare, random);
        for (const std::uint32_t element : elements) {
            const std::size_t at = element * width;
            mask[at] = std::byte { 1 };
            after[at] ^= mask[at];
            bitsBefore.insert(bitsBefore.end(), &before[at], &before[at] + width);
            bitsAfter.insert(bitsAfter.end(), &after[at], &after[at] + width);
            masks.insert(masks.end(), &mask[at], &mask[at] + width);
        }
    }
};

struct Kind {
    const char* name;
    PatchPiece to, fro;
};

double secondsOf(auto work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double medianOf(std::vector<double>& values)
{
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

struct Times {
    double apply = 0, copy = 0; ///< seconds for one block
};

Times measure(const Backend& backend, const Kind& kind, const Case& of, unsigned passes)
{
    Bytes state = of.before;
    std::vector<double> apply;
    std::vector<double> copy;
    for (unsigned pass = 0; pass <= passes; ++pass) {
        std::uint64_t changed = 0;
        const double applied = secondsOf([&] {
            for (unsigned i = 0; i < PassBlocks; ++i)
                changed += backend.apply(i % 2 == 0 ? kind.to : kind.fro, state, of.dtype).changed;
        });
        if (changed != PassBlocks * of.elements.size() || state != of.before) {
            fmt::print(stderr, "{} applies {} wrongly\n", backend.name(), kind.name);
            std::exit(1);
        }
        const double copied = secondsOf([&] {
            for (unsigned i = 0; i < PassBlocks; ++i) {
                std::memcpy(state.data(), (i % 2 == 0 ? of.after : of.before).data(), state.size());
                asm volatile("" : : "r"(state.data()) : "memory");
            }
        });
        if (pass > 0) { // the first one warms the caches
            apply.push_back(applied / PassBlocks);
            copy.push_back(copied / PassBlocks);
        }
    }
    return { medianOf(apply), medianOf(copy) };
}

}

int main(int argc, char** argv)
{
    const unsigned passes = argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 101;
    const Backends backends = Backends::builtin();
    std::string head = "| piece | dtype | memcpy GB/s |";
    std::string rule = "|---|---|---|";
    for (const auto& backend : backends.all()) {
        if (backend->isSupportedHere()) {
            head += fmt::format(" {} |", backend->name());
            rule += "---|";
        }
    }
    fmt::print("{}\n{}\n", head, rule);
    for (const Dtype dtype : { Dtype::F8E4M3, Dtype::BF16, Dtype::F32 }) {
        const Case of(dtype);
        const Kind kinds[] = {
            { "FullBlock", FullBlock { of.after }, FullBlock { of.before } },
            { "XorBlock", XorBlock { of.mask }, XorBlock { of.mask } },
            { "AssignElements", AssignElements { of.elements, of.bitsAfter },
              AssignElements { of.elements, of.bitsBefore } },
            { "XorElements", XorElements { of.elements, of.masks }, XorElements { of.elements, of.masks } },
        };
        for (const Kind& kind : kinds) {
            std::string row;
            double copy = 0;
            for (const auto& backend : backends.all()) {
                if (!backend->isSupportedHere())
                    continue;
                const Times times = measure(*backend, kind, of, passes);
                row += fmt::format(" {:.2f} |", times.apply / times.copy);
                copy = times.copy;
            }
            fmt::print("| {} | {} | {:.0f} |{}\n", kind.name, word(dtype),
                       static_cast<double>(of.before.size()) / copy / 1e9, row);
        }
    }
    return 0;
}
