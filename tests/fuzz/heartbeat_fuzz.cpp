// Heartbeats of replicas: the input is one. Seeds: tests/fuzz/make_seeds.py.

#include "deltascope/engine/beside_keys.h"
#include "few_objects_store.h"
#include "trace_checks.h"

using namespace deltascope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const ByteSpan input = std::as_bytes(std::span(data, size));
    if (const std::optional<Heartbeat> heartbeat = heartbeatFromText(asText(input))) {
        const std::string written = heartbeatToText(*heartbeat);
        const std::optional<Heartbeat> again = heartbeatFromText(written);
        require(again && heartbeatToText(*again) == written);
    }
    FewObjectsStore store;
    store.add(std::string(beside::Replicas) + "r1.json", input);
    checkTrace(store);
    return 0;
}
