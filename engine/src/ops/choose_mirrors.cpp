#include "choose_mirrors.h"

#include "deltascope/base/address.h"
#include "deltascope/engine/beside_keys.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace deltascope {

namespace {

constexpr std::uint64_t MaxOfferBytes = 64 * 1024;
constexpr std::size_t MaxOffers = 16;

Error noticeOf(std::string text, std::string where, std::string action = {})
{
    return Error { Code::Mirror, std::move(text), std::move(where), std::nullopt, std::move(action) };
}

/// The addresses in what a source offers. Errors: Hostile, those of the store.
Result<std::vector<std::string>> readOffers(const ObjectStore& source, TaskContext& task)
{
    Result<std::vector<std::byte>> bytes = readWhole(source, beside::MirrorOffer, MaxOfferBytes, task);
    if (!bytes && bytes.error().code == Code::NotFound)
        return std::vector<std::string>();
    DS_CHECK(bytes);
    const auto hostile = [](std::string text) {
        return fail(Code::Hostile, std::move(text), std::string(beside::MirrorOffer));
    };
    const nlohmann::json offer = nlohmann::json::parse(asText(*bytes), nullptr, false);
    if (!offer.is_object() || !offer.contains("mirrors") || !offer["mirrors"].is_array())
        return hostile("is no JSON object with a list of mirrors");
    if (offer["mirrors"].size() > MaxOffers)
        return hostile(
            fmt::format("offers {} mirrors, where at most {} make sense", offer["mirrors"].size(), MaxOffers));
    std::vector<std::string> addresses;
    for (const nlohmann::json& address : offer["mirrors"]) {
        if (!address.is_string())
            return hostile("holds an address that is no text");
        addresses.push_back(address.get<std::string>());
    }
    return addresses;
}

class Choice {
public:
    Choice(Workbench& bench, const ObjectStore& source)
        : m_bench(bench)
        , m_source(source)
    {
    }

    Result<void> take(const Address& named)
    {
        const Address address = named.absolute();
        DS_CHECK(open(address));
        const Result<void> kept = m_bench.records
            ? m_bench.records->addMirror(m_source.uri(), address.text(), m_bench.nowUs())
            : Result<void>();
        if (!kept)
            m_chosen.notices.push_back(noticeOf("the mirror is read, and cannot be remembered: " + kept.error().text,
                                                address.text(), "name it with --mirror the next time, too"));
        return {};
    }

    void takeOffers(TaskContext& task)
    {
        const Result<std::vector<std::string>> offers = readOffers(m_source, task);
        if (!offers) {
            m_chosen.notices.push_back(
                noticeOf("what the source offers as mirrors cannot be read: " + offers.error().text,
                         std::string(beside::MirrorOffer), "nothing, if you need no mirror"));
            return;
        }
        const Result<std::set<std::string>> named =
            m_bench.records && !offers->empty() ? m_bench.records->mirrors(m_source.uri()) : std::set<std::string>();
        for (const std::string& offer : *offers)
            takeOffer(offer, named ? *named : std::set<std::string>());
    }

    ChosenMirrors result() && { return std::move(m_chosen); }

private:
    Result<void> open(const Address& address)
    {
        if (!m_opened.insert(address.text()).second)
            return {};
        DS_TRY(std::shared_ptr<const ObjectStore> store, m_bench.stores->open(address));
        const std::string uri = store->uri();
        if (uri == m_source.uri())
            return fail(Code::Usage, "the mirror is the source itself", address.text(), "name a second copy of it");
        const bool again = std::any_of(m_chosen.stores.begin(), m_chosen.stores.end(),
                                       [&](const auto& other) { return other->uri() == uri; });
        if (!again)
            m_chosen.stores.push_back(std::move(store));
        return {};
    }

    void takeOffer(const std::string& offer, const std::set<std::string>& named)
    {
        const std::string quoted = quoteName(offer);
        if (!Address(offer).isAbsolute()) {
            m_chosen.notices.push_back(noticeOf(
                fmt::format("the source offers {} as a mirror, which is no absolute address: it is not read", quoted),
                std::string(beside::MirrorOffer),
                "tell who keeps the source; an address in it begins with / or a scheme"));
            return;
        }
        const Address address = Address(offer).absolute();
        if (m_opened.contains(address.text()))
            return;
        if (!named.contains(address.text())) {
            m_chosen.notices.push_back(noticeOf(
                fmt::format("the source offers a mirror at {}; it is not read, for nobody has named it for this "
                            "source on this machine",
                            quoted),
                std::string(beside::MirrorOffer), "--mirror with this address reads it, if you trust who keeps it"));
            return;
        }
        if (const Result<void> opened = open(address); !opened)
            m_chosen.notices.push_back(
                noticeOf(fmt::format("the mirror at {} cannot be read: {}", quoted, opened.error().text),
                         std::string(beside::MirrorOffer),
                         "nothing, if the source is whole; else see why the mirror does not answer"));
    }

    Workbench& m_bench;
    const ObjectStore& m_source;
    std::set<std::string> m_opened;
    ChosenMirrors m_chosen;
};

}

Result<ChosenMirrors> chooseMirrors(Workbench& bench, const ObjectStore& source, const std::vector<Address>& named,
                                    TaskContext& task)
{
    Choice choice(bench, source);
    for (const Address& address : named)
        DS_CHECK(choice.take(address));
    choice.takeOffers(task);
    return std::move(choice).result();
}

} // namespace deltascope
