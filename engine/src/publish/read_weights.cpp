#include "publish/read_weights.h"

#include "publish/unread_folders.h"

#include <algorithm>
#include <functional>

namespace deltascope {

namespace {

bool isWeights(const ObjectInfo& object) { return object.key.ends_with(".safetensors"); }

std::size_t stateOf(const ObjectInfo& object) { return std::hash<std::string> {}(object.identity); }

}

void ReadWeights::add(const Version& checkpoint)
{
    Files& files = m_files[checkpointLabel(checkpoint)];
    files.clear();
    for (const ObjectInfo& object : checkpoint.objects.objects) {
        if (isWeights(object))
            files.emplace(object.key, stateOf(object));
    }
}

bool ReadWeights::differ(const Version& checkpoint) const
{
    const auto files = m_files.find(checkpointLabel(checkpoint));
    if (files == m_files.end())
        return false;
    return std::any_of(checkpoint.objects.objects.begin(), checkpoint.objects.objects.end(),
                       [&](const ObjectInfo& object) {
                           const auto then = files->second.find(object.key);
                           return then != files->second.end() && then->second != stateOf(object);
                       });
}

} // namespace deltascope
