#include "store/mirrored_store.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace deltascope {

namespace {

Error isMirror(std::string_view key)
{
    return { Code::Internal, "a mirror is only read, and was asked to change an object", std::string(key), {}, {} };
}

} // namespace

MirroredStore::MirroredStore(std::shared_ptr<ObjectStore> source,
                             std::vector<std::shared_ptr<const ObjectStore>> mirrors)
    : ForwardingStore(std::move(source))
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
        return below().list(request, task);
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

Result<ObjectInfo> MirroredStore::stat(std::string_view key, TaskContext& task) const
{
    const Mirror* mirror = mirrorOf(key);
    if (!mirror)
        return below().stat(key, task);
    DS_TRY(ObjectInfo object, mirror->store->stat(key.substr(mirror->prefix.size()), task));
    return inMirror(mirror->store->uri(), std::move(object));
}

ObjectRef MirroredStore::inside(const Mirror& mirror, const ObjectRef& object)
{
    ObjectRef inside = object;
    inside.key.remove_prefix(mirror.prefix.size());
    if (!inside.identity.empty())
        inside.identity.remove_prefix(std::min(mirror.prefix.size(), inside.identity.size())); // inMirror()
    return inside;
}

Result<void> MirroredStore::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                                 TaskContext& task) const
{
    const Mirror* mirror = mirrorOf(object.key);
    return mirror ? mirror->store->read(inside(*mirror, object), offset, out, task)
                  : below().read(object, offset, out, task);
}

std::vector<Result<void>> MirroredStore::readMany(const std::vector<RangeRead>& reads, TaskContext& task) const
{
    std::map<const Mirror*, std::vector<std::size_t>> ofStore; // the source under null
    for (std::size_t i = 0; i < reads.size(); ++i)
        ofStore[mirrorOf(reads[i].object.key)].push_back(i);
    std::vector<Result<void>> outcomes(reads.size());
    for (const auto& [mirror, indices] : ofStore) {
        std::vector<RangeRead> part;
        for (const std::size_t index : indices)
            part.push_back({ mirror ? inside(*mirror, reads[index].object) : reads[index].object, reads[index].offset,
                             reads[index].out });
        const ObjectStore& store = mirror ? *mirror->store : static_cast<const ObjectStore&>(below());
        std::vector<Result<void>> ofPart = store.readMany(part, task);
        for (std::size_t i = 0; i < indices.size(); ++i)
            outcomes[indices[i]] = std::move(ofPart[i]);
    }
    return outcomes;
}

ReadsAhead MirroredStore::readAhead(ComingReads reads, TaskContext& task) const
{
    ReadsAhead ahead;
    const auto add = [&](const Mirror* mirror, const ObjectStore& store) {
        const auto ofStore = [this, mirror, next = reads]() -> std::optional<ComingRead> {
            for (;;) {
                std::optional<ComingRead> coming = next();
                if (coming && mirrorOf(coming->object.key) != mirror)
                    continue;
                if (coming && mirror)
                    coming->object = inside(*mirror, coming->object);
                return coming;
            }
        };
        std::ranges::move(store.readAhead(ofStore, task), std::back_inserter(ahead));
    };
    add(nullptr, below());
    for (const Mirror& mirror : m_mirrors)
        add(&mirror, *mirror.store);
    return ahead;
}

ReadProof MirroredStore::proofOf(const ObjectRef& object) const
{
    const Mirror* mirror = mirrorOf(object.key);
    return mirror ? mirror->store->proofOf(inside(*mirror, object)) : below().proofOf(object);
}

void MirroredStore::forget(const ObjectRef& object) const
{
    if (const Mirror* mirror = mirrorOf(object.key))
        mirror->store->forget(inside(*mirror, object));
    else
        below().forget(object);
}

Result<bool> MirroredStore::hasEmptyFolder(std::string_view key, TaskContext& task) const
{
    const Mirror* mirror = mirrorOf(key);
    return mirror ? mirror->store->hasEmptyFolder(key.substr(mirror->prefix.size()), task)
                  : below().hasEmptyFolder(key, task);
}

Result<bool> MirroredStore::leadsOutside(std::string_view key, TaskContext& task) const
{
    const Mirror* mirror = mirrorOf(key);
    return mirror ? mirror->store->leadsOutside(key.substr(mirror->prefix.size()), task)
                  : below().leadsOutside(key, task);
}

Result<ObjectInfo> MirroredStore::put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
{
    if (mirrorOf(key))
        return fail(isMirror(key));
    return below().put(key, bytes, mode, task);
}

std::vector<Result<void>> MirroredStore::remove(const std::vector<ObjectRef>& objects, TaskContext& task)
{
    std::vector<Result<void>> outcomes(objects.size());
    std::vector<ObjectRef> ofSource;
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (mirrorOf(objects[i].key)) {
            outcomes[i] = fail(isMirror(objects[i].key));
            continue;
        }
        ofSource.push_back(objects[i]);
        indices.push_back(i);
    }
    std::vector<Result<void>> removed = below().remove(ofSource, task);
    for (std::size_t i = 0; i < indices.size(); ++i)
        outcomes[indices[i]] = std::move(removed[i]);
    return outcomes;
}

Result<ObjectInfo> MirroredStore::copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task)
{
    return mirrorOf(from.key) || mirrorOf(to) ? ObjectStore::copy(from, to, mode, task)
                                              : below().copy(from, to, mode, task);
}

ObjectInfo inMirror(const std::string& address, ObjectInfo object)
{
    object.key = address + '/' + object.key;
    object.identity = address + ' ' + object.identity;
    return object;
}

} // namespace deltascope
