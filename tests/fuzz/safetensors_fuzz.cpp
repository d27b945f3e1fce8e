// Header parser of safetensors files: the input is a whole file. Seeds: tests/fuzz/seeds/safetensors.

#include "deltascope/engine/safetensors.h"

#include "support/any_task.h"
#include "support/single_object_store.h"

#include <cstdlib>

using namespace deltascope;

namespace {

void require(bool condition)
{
    if (!condition)
        std::abort();
}

void checkRefusal(const Error& error)
{
    require(error.code == Code::Malformed || error.code == Code::Hostile || error.code == Code::Truncated
            || error.code == Code::Unfinished);
    require(!error.text.empty() && error.text.size() < 2048);
    for (const char c : error.text)
        require(static_cast<unsigned char>(c) >= 0x20);
}

/// What every accepted header promises to its readers.
void checkHeader(const SafetensorsHeader& header, std::uint64_t fileBytes)
{
    std::uint64_t end = header.dataBegin();
    for (const StoredTensor& tensor : header.tensors()) {
        require(tensor.begin == end);
        const auto size = checkedSize(tensor.info);
        require(size && *size == tensor.bytes && tensor.info.bytes() == tensor.bytes);
        require(header.find(tensor.info.name) == &tensor);
        end += tensor.bytes;
    }
    require(end == fileBytes);
}

/// Writing what was read and reading it again changes nothing.
void checkRoundTrip(const SafetensorsHeader& header)
{
    std::vector<TensorInfo> infos;
    std::uint64_t dataBytes = 0;
    for (const StoredTensor& tensor : header.tensors()) {
        infos.push_back(tensor.info);
        dataBytes += tensor.bytes;
    }
    const std::string written = writeSafetensorsHeader(infos, header.metadata());
    require(written.size() % 8 == 0);
    const auto again = SafetensorsHeader::parse(asBytes(written).subspan(8), written.size() + dataBytes);
    require(again && again->metadata() == header.metadata() && again->tensors().size() == infos.size());
    // Empty tensors at one place may change their order, nothing else may.
    for (const TensorInfo& info : infos) {
        const StoredTensor* const tensor = again->find(info.name);
        require(tensor && tensor->info == info);
        require(tensor->begin - again->dataBegin() == header.find(info.name)->begin - header.dataBegin());
    }
}

void check(const Result<SafetensorsHeader>& header, std::uint64_t fileBytes)
{
    if (!header)
        return checkRefusal(header.error());
    checkHeader(*header, fileBytes);
    checkRoundTrip(*header);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const ByteSpan file = std::as_bytes(std::span(data, size));
    const SingleObjectStore store("input", file);
    check(SafetensorsHeader::read(store, store.info(), test::anyTask()), size);
    // The bytes behind the length field as a header of their own, so that mutations need not keep the length right.
    if (size >= 8) {
        check(SafetensorsHeader::parse(file.subspan(8), size), size);
        check(SafetensorsHeader::parse(file.subspan(8), size + 16), size + 16);
    }
    return 0;
}
