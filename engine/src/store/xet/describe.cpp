#include "store/xet/describe.h"

#include "../ask_again.h"

#include <fmt/format.h>

namespace deltascope::xet {

namespace {

constexpr int NoSuchFile = 404;
constexpr int NoSuchRange = 416;
constexpr int NoSuchCall = 501;

}

Result<Reconstruction> Describer::describe(const Hash& file, std::uint64_t begin, std::uint64_t end,
                                           ReconstructionForm form, TaskContext& task)
{
    if (!m_hasV2)
        form = ReconstructionForm::V1;
    return askAgain([&] { return describeOnce(file, begin, end, form, task); },
                    [](const Result<Reconstruction>& all) { return !all && all.error().code == Code::Hostile; }, task);
}

Result<Reconstruction> Describer::describeOnce(const Hash& file, std::uint64_t begin, std::uint64_t end,
                                               ReconstructionForm form, TaskContext& task)
{
    std::string address;
    DS_TRY(http::Response response, ask(file, begin, end, form, task, address));
    if (form == ReconstructionForm::V2 && (response.status == NoSuchFile || response.status == NoSuchCall)) {
        form = ReconstructionForm::V1;
        DS_TRY(response, ask(file, begin, end, form, task, address));
        if (response.isGood())
            m_hasV2 = false;
    }
    if (response.status == NoSuchFile)
        return fail(Code::NotFound, "the store has no file with this hash", file.text());
    if (response.status == NoSuchRange)
        return fail(Code::Truncated, "the file ends before the bytes that were asked for", file.text());
    if (!response.isGood())
        return fail(http::errorOfStatus(response.status, address));
    return parseReconstruction(response.body, form);
}

Result<http::Response> Describer::ask(const Hash& file, std::uint64_t begin, std::uint64_t end, ReconstructionForm form,
                                      TaskContext& task, std::string& address)
{
    constexpr std::size_t MostAnswerBytes = std::size_t { 16 } << 20;
    http::Request request;
    request.url = fmt::format("/{}/reconstructions/{}", form == ReconstructionForm::V2 ? "v2" : "v1", file.text());
    request.headers.add("Range", fmt::format("bytes={}-{}", begin, end - 1)); // of the file, not of the answer
    request.destination = http::Keep { MostAnswerBytes };
    return m_cas.send(Scope::Read, std::move(request), task, &address);
}

} // namespace deltascope::xet
