// Objects of spans: the input is one. Seeds: tests/fuzz/make_seeds.py.

#include "deltascope/engine/beside_keys.h"
#include "few_objects_store.h"
#include "trace_checks.h"

using namespace deltascope;

namespace {

void checkLine(std::string_view line)
{
    const std::optional<Span> span = spanFromLine(line);
    if (!span)
        return;
    const std::string written = spanToLine(*span);
    const std::optional<Span> again = spanFromLine(written);
    require(again && spanToLine(*again) == written);
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const ByteSpan input = std::as_bytes(std::span(data, size));
    checkLine(asText(input).substr(0, asText(input).find('\n')));
    FewObjectsStore store;
    store.add(std::string(beside::Spans) + "publisher-000001.jsonl", input);
    checkTrace(store);
    return 0;
}
