#include "deltascope/engine/stores.h"

#include <filesystem>

namespace deltascope {

class Stores::Kept {
public:
    explicit Kept(StoresOptions options)
        : m_options(std::move(options))
    {
    }

    Result<std::shared_ptr<ObjectStore>> openRemote(const RemotePlace& place, const StoreUse&)
    {
        return fail(Code::Unsupported, "not yet", place.text());
    }

private:
    const StoresOptions m_options;
};

Stores::Stores(StoresOptions options)
    : m_kept(std::make_unique<Kept>(std::move(options)))
{
}

Stores::~Stores() = default;

Result<std::shared_ptr<ObjectStore>> Stores::open(const Address& address, const StoreUse& use)
{
    if (address.remote())
        return m_kept->openRemote(*address.remote(), use);
    DS_TRY(const std::string path, address.path());
    DS_TRY(std::shared_ptr<ObjectStore> store, openLocalStore(path));
    return store;
}

Result<bool> Stores::create(const Address& address, TaskContext&)
{
    DS_TRY(const std::string path, address.path());
    std::error_code error;
    const bool made = std::filesystem::create_directories(path, error);
    if (error)
        return fail(Code::Io, "the folder cannot be made: " + error.message(), path);
    return made;
}

std::vector<StoreMeter> Stores::meters() const { return {}; }

std::shared_ptr<Stores> makeStores() { return std::make_shared<Stores>(); }

} // namespace deltascope
