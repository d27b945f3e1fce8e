#include "store/read_texts.h"

#include <fmt/format.h>
#include <span>

namespace deltascope {

Result<std::vector<Result<std::string>>> readTexts(const ObjectStore& store, const std::vector<ObjectInfo>& objects,
                                                   std::uint64_t mostBytes, TaskContext& task)
{
    std::vector<Result<std::string>> texts(objects.size(), std::string());
    std::vector<RangeRead> reads;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const ObjectInfo& object = objects[i];
        if (object.sizeBytes == 0 || object.sizeBytes > mostBytes || !object.oddity.empty()) {
            texts[i] = fail(Code::Hostile,
                            fmt::format("{} bytes, where 1 to {} make sense", object.sizeBytes, mostBytes), object.key);
            continue;
        }
        texts[i]->resize(object.sizeBytes);
        reads.push_back({ object, 0, std::as_writable_bytes(std::span(*texts[i])) });
        places.push_back(i);
    }
    const std::vector<Result<void>> outcomes = store.readMany(reads, task);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i])
            continue;
        if (outcomes[i].error().code == Code::Canceled)
            return fail(outcomes[i].error());
        texts[places[i]] = fail(outcomes[i].error());
    }
    return texts;
}

} // namespace deltascope
