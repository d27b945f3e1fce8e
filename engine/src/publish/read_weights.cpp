#include "publish/read_weights.h"

#include "publish/unread_folders.h"

#include <algorithm>
#include <functional>

namespace deltascope {

namespace {

bool isWeights(const ObjectInfo& object) { return object.key.ends_with(".safetensors"); }

std::size_t stateOf(const ObjectInfo& object) { return std::hash<std::string> {}(object.identity); }

}

void ReadWeights::add(const Version& checkpoint, const std::string& root)
{
    Read& read = m_read[checkpointLabel(checkpoint)];
    read = { {}, root };
    for (const ObjectInfo& object : checkpoint.objects.objects) {
        if (isWeights(object))
            read.files.emplace(object.key, stateOf(object));
    }
}

std::string ReadWeights::rootOf(const Version& checkpoint) const
{
    const auto read = m_read.find(checkpointLabel(checkpoint));
    return read == m_read.end() ? std::string() : read->second.root;
}

bool ReadWeights::differ(const Version& checkpoint) const
{
    const auto read = m_read.find(checkpointLabel(checkpoint));
    if (read == m_read.end())
        return false;
    const auto& files = read->second.files;
    return std::any_of(checkpoint.objects.objects.begin(), checkpoint.objects.objects.end(),
                       [&](const ObjectInfo& object) {
                           const auto then = files.find(object.key);
                           return then != files.end() && then->second != stateOf(object);
                       });
}

} // namespace deltascope
