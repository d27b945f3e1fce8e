#include "mirrored_versions.h"

#include "catalog/sights.h"
#include "store/mirrored_store.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>

namespace deltascope {

namespace {

VersionObjects mirrored(VersionObjects form, const std::string& address)
{
    form.mirror = address;
    form.name = form.name == "." ? address : address + '/' + form.name;
    for (ObjectInfo& object : form.objects)
        object = inMirror(address, std::move(object));
    return form;
}

/// An earlier mirror may have given a form.
std::string nameInSource(const VersionObjects& form) { return std::string(form.inSource(form.name)); }

/// A version as the list of its forms, the own one first, and back.
std::vector<VersionObjects> takeApart(VersionObjects version)
{
    std::vector<VersionObjects> forms = std::move(version.otherForms);
    version.otherForms.clear();
    forms.insert(forms.begin(), std::move(version));
    return forms;
}

VersionObjects putTogether(std::vector<VersionObjects> forms)
{
    VersionObjects version = std::move(forms.front());
    version.otherForms.assign(std::make_move_iterator(forms.begin() + 1), std::make_move_iterator(forms.end()));
    return version;
}

/// "step 3", "steps 3, 5, 9 and 4 more".
std::string stepsInWords(const std::vector<std::int64_t>& steps)
{
    constexpr std::size_t Told = 5;
    const std::size_t told = std::min(Told, steps.size());
    std::string text = fmt::format("step{} {}", steps.size() == 1 ? "" : "s",
                                   fmt::join(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(told), ", "));
    return steps.size() > told ? fmt::format("{} and {} more", text, steps.size() - told) : text;
}

class Matching {
public:
    Matching(std::vector<VersionObjects>& versions, const std::string& address, Records* records,
             const std::string& source)
        : m_versions(versions)
        , m_address(address)
        , m_records(records)
        , m_source(source)
    {
        for (std::size_t at = 0; at < versions.size(); ++at) {
            m_byName.emplace(nameInSource(versions[at]), at);
            for (const VersionObjects& form : versions[at].otherForms)
                m_byName.emplace(nameInSource(form), at);
        }
    }

    Result<void> add(VersionObjects held)
    {
        std::vector<VersionObjects> forms = takeApart(std::move(held));
        const auto known = std::find_if(forms.begin(), forms.end(),
                                        [&](const VersionObjects& form) { return m_byName.contains(form.name); });
        if (known != forms.end())
            return addTo(m_versions[m_byName.at(known->name)], std::move(forms));
        for (VersionObjects& form : forms)
            form = mirrored(std::move(form), m_address);
        m_lost.push_back(putTogether(std::move(forms)));
        return {};
    }

    /// Puts the versions that only the mirror has where they belong.
    std::vector<Error> finish()
    {
        std::vector<std::int64_t> steps = m_lostForms;
        for (VersionObjects& lost : m_lost) {
            const auto behind =
                std::upper_bound(m_versions.begin(), m_versions.end(), lost.step,
                                 [](std::int64_t step, const VersionObjects& version) { return step < version.step; });
            steps.push_back(lost.step);
            m_versions.insert(behind, std::move(lost));
        }
        std::sort(steps.begin(), steps.end());
        std::vector<Error> told;
        if (!steps.empty())
            told.push_back(Error { Code::Mirror,
                                   fmt::format("objects of {} are gone from the source, or were never there, and are "
                                               "read from the mirror",
                                               stepsInWords(steps)),
                                   m_address,
                                   steps.size() == 1 ? std::optional(steps.front()) : std::nullopt,
                                   {} });
        if (m_unlike)
            told.push_back(std::move(*m_unlike));
        return told;
    }

private:
    Result<void> addTo(VersionObjects& version, std::vector<VersionObjects> held)
    {
        std::vector<VersionObjects> forms = takeApart(std::move(version));
        std::vector<VersionObjects> leading; // the layout puts its served form first, also where the source lacks it
        std::vector<VersionObjects> copies;
        for (std::size_t i = 0; i < held.size(); ++i) {
            const auto same = std::find_if(forms.begin(), forms.end(), [&](const VersionObjects& other) {
                return nameInSource(other) == held[i].name;
            });
            if (same != forms.end()) {
                DS_TRY(const bool fits, isCopy(held[i], *same));
                if (!fits)
                    continue;
            }
            const bool isMissed = same == forms.end() || noteLack(*same, held[i]);
            const bool isOwn = same == forms.end() ? i == 0 : same == forms.begin();
            if (isMissed)
                m_lostForms.push_back(held[i].step);
            (isMissed && isOwn ? leading : copies).push_back(mirrored(std::move(held[i]), m_address));
        }
        leading.insert(leading.end(), std::make_move_iterator(forms.begin()), std::make_move_iterator(forms.end()));
        leading.insert(leading.end(), std::make_move_iterator(copies.begin()), std::make_move_iterator(copies.end()));
        version = putTogether(std::move(leading));
        return {};
    }

    /// Of those that are files, by the keys that the objects have in the source.
    static std::map<std::string_view, std::uint64_t> sizesOf(const VersionObjects& form)
    {
        std::map<std::string_view, std::uint64_t> sizes;
        for (const ObjectInfo& object : form.objects) {
            if (object.oddity.empty())
                sizes.emplace(form.inSource(object.key), object.sizeBytes);
        }
        return sizes;
    }

    /// Whether the mirror has every object that the source has of a form, as far as sizes tell.
    Result<bool> isCopy(const VersionObjects& held, const VersionObjects& form)
    {
        const std::map<std::string_view, std::uint64_t> sizes = sizesOf(held);
        for (const ObjectInfo& object : form.objects) {
            const auto there = sizes.find(form.inSource(object.key));
            if (there == sizes.end())
                return false;
            if (there->second == object.sizeBytes || !object.oddity.empty())
                continue;
            DS_TRY(const std::optional<std::uint64_t> recorded, sizeOnRecord(std::string(form.inSource(object.key))));
            if (recorded == there->second)
                continue;
            if (!m_unlike)
                m_unlike = Error { Code::Mirror,
                                   fmt::format("the mirror holds another object of {} bytes where the source has one "
                                               "of {}, and nothing on record tells which is right: the mirror's is not "
                                               "used",
                                               there->second, object.sizeBytes),
                                   fmt::format("{}/{}", m_address, form.inSource(object.key)), held.step,
                                   "compare both with what the trainer has of this step" };
            return false;
        }
        return true;
    }

    /// Whether the mirror holds more objects of a form; then the form is not whole.
    static bool noteLack(VersionObjects& form, const VersionObjects& held)
    {
        const std::map<std::string_view, std::uint64_t> sizes = sizesOf(form);
        const auto missing = std::find_if(held.objects.begin(), held.objects.end(),
                                          [&](const ObjectInfo& object) { return !sizes.contains(object.key); });
        if (missing != held.objects.end())
            form.lacks = missing->key;
        return missing != held.objects.end();
    }

    Result<std::optional<std::uint64_t>> sizeOnRecord(const std::string& key)
    {
        using Size = std::optional<std::uint64_t>;
        if (!m_records)
            return Size();
        Result<std::vector<Records::Sight>> sights = m_records->sights(m_source, key);
        if (!sights && sights.error().code == Code::Catalog)
            return Size();
        DS_CHECK(sights);
        const Records::Sight* const trusted = trustedSight(*sights);
        return trusted ? Size(trusted->sizeBytes) : Size();
    }

    std::vector<VersionObjects>& m_versions;
    const std::string& m_address;
    Records* m_records;
    const std::string& m_source;
    std::map<std::string, std::size_t> m_byName; ///< of every form of the source
    std::vector<VersionObjects> m_lost; ///< versions that the source does not have at all
    std::vector<std::int64_t> m_lostForms; ///< steps of which the source lacks a form
    std::optional<Error> m_unlike;
};

/// A copy has the times of its copying, which say nothing of when the trainer published. Where a version stands between
/// two of the source, so do its times.
void fitTimes(std::vector<VersionObjects>& versions)
{
    std::int64_t before = 0;
    for (std::size_t at = 0; at < versions.size(); ++at) {
        VersionObjects& version = versions[at];
        if (version.mirror.empty()) {
            before = version.publishedUs();
            continue;
        }
        const auto next = std::find_if(versions.begin() + static_cast<std::ptrdiff_t>(at), versions.end(),
                                       [](const VersionObjects& other) { return other.mirror.empty(); });
        if (next == versions.end())
            return; // behind the newest one of the source: its own times are all there is
        const std::int64_t behind = next->publishedUs();
        for (ObjectInfo& object : version.objects)
            object.modifiedUs = std::min(std::max(object.modifiedUs, before), behind);
    }
}

}

Result<std::vector<Error>> addMirrored(std::vector<VersionObjects>& versions, const std::string& address,
                                       std::vector<VersionObjects> held, Records* records, const std::string& source)
{
    Matching matching(versions, address, records, source);
    for (VersionObjects& version : held)
        DS_CHECK(matching.add(std::move(version)));
    std::vector<Error> told = matching.finish();
    fitTimes(versions);
    return told;
}

} // namespace deltascope
