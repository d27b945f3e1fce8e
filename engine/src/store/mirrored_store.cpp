#include "store/mirrored_store.h"

#include <algorithm>

namespace deltascope {

MirroredStore::MirroredStore(std::shared_ptr<ObjectStore> source,
                             std::vector<std::shared_ptr<const ObjectStore>> mirrors)
    : m_source(std::move(source))
{
    for (std::shared_ptr<const ObjectStore>& mirror : mirrors) {
        std::string prefix = mirror->uri() + '/';
        m_mirrors.push_back(Mirror { std::move(prefix), std::move(mirror) });
    }
}

const MirroredStore::Mirror* MirroredStore::mirrorOf(std::string_view key) const noexcept
{
    const auto found = std::find_if(m_mirrors.begin(), m_mirrors.end(),
                                    [&](const Mirror& mirror) { return key.starts_with(mirror.prefix); });
    return found == m_mirrors.end() ? nullptr : &*found;
}

Result<ListPage> MirroredStore::list(const ListRequest& request, TaskContext& task) const
{
    const Mirror* mirror = mirrorOf(request.prefix);
    if (!mirror)
        return m_source->list(request, task);
    const std::size_t length = mirror->prefix.size();
    ListRequest inside { request.prefix.substr(length), {}, request.maxKeys };
    if (request.startAfter.starts_with(mirror->prefix))
        inside.startAfter = request.startAfter.substr(length);
    DS_TRY(ListPage page, mirror->store->list(inside, task));
    const std::string address = mirror->store->uri();
    for (ObjectInfo& object : page.objects)
        object = inMirror(address, std::move(object));
    return page;
}

Result<ObjectInfo> MirroredStore::stat(std::string_view key) const
{
    const Mirror* mirror = mirrorOf(key);
    if (!mirror)
        return m_source->stat(key);
    DS_TRY(ObjectInfo object, mirror->store->stat(key.substr(mirror->prefix.size())));
    return inMirror(mirror->store->uri(), std::move(object));
}

Result<void> MirroredStore::read(std::string_view key, std::uint64_t offset, MutableByteSpan out) const
{
    const Mirror* mirror = mirrorOf(key);
    return mirror ? mirror->store->read(key.substr(mirror->prefix.size()), offset, out)
                  : m_source->read(key, offset, out);
}

Result<bool> MirroredStore::hasEmptyFolder(std::string_view key) const
{
    const Mirror* mirror = mirrorOf(key);
    return mirror ? mirror->store->hasEmptyFolder(key.substr(mirror->prefix.size())) : m_source->hasEmptyFolder(key);
}

Result<ObjectInfo> MirroredStore::put(std::string_view key, ByteSource& bytes, PutMode mode, TaskContext& task)
{
    if (mirrorOf(key))
        return fail(Code::Internal, "a mirror is only read, and was asked to put an object", std::string(key));
    return m_source->put(key, bytes, mode, task);
}

ObjectInfo inMirror(const std::string& address, ObjectInfo object)
{
    object.key = address + '/' + object.key;
    object.identity = address + ' ' + object.identity;
    return object;
}

} // namespace deltascope
