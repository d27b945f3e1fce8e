#include "publish/writer_choice.h"

#include "format/slime_v2/slime_v2_writer.h"
#include "format/trl/trl_v2_writer.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

tl::unexpected<Error> unknown(std::string_view what, std::string_view given, std::string_view known)
{
    return fail(Code::Usage, fmt::format("{} is no {}; there are {}", given, what, known));
}

}

Result<WriterChoice> WriterChoice::of(const PublishOptions& options, std::string spoolFolder)
{
    WriterChoice choice;
    choice.m_spoolFolder = std::move(spoolFolder);
    if (options.layout == "trl-v2") {
        if (options.encoding == "raw")
            choice.m_trlEncoding = TrlV2Encoding::Raw;
        else if (!options.encoding.empty() && options.encoding != "gap_delta")
            return unknown("encoding", options.encoding, "gap_delta and raw");
        if (!options.checksum.empty())
            return fail(Code::Usage, "trl-v2 records no checksums");
        return choice;
    }
    if (options.layout != "slime-v2")
        return fail(Code::Usage,
                    fmt::format("{} cannot be written; this build writes trl-v2 and slime-v2", options.layout));
    choice.m_slime = true;
    if (options.encoding == "overwrite")
        choice.m_slimeEncoding = SlimeV2Encoding::Overwrite;
    else if (!options.encoding.empty() && options.encoding != "xor")
        return unknown("encoding", options.encoding, "xor and overwrite");
    for (const DigestAlgorithm algorithm :
         { DigestAlgorithm::Xxh3_128, DigestAlgorithm::Blake3, DigestAlgorithm::Adler32 }) {
        if (options.checksum == word(algorithm))
            choice.m_checksum = algorithm;
    }
    if (!options.checksum.empty() && options.checksum != word(choice.m_checksum))
        return unknown("checksum", options.checksum, "xxh3-128, blake3 and adler32");
    if (options.newEpoch)
        return fail(Code::Usage, "slime-v2 has no anchors, so another epoch cannot begin inside a run", {},
                    "publish into a new folder, with the new starting point as --base");
    if (options.anchorWhenCheaper)
        return fail(Code::Usage, "slime-v2 has no anchors, so none can be cheaper");
    return choice;
}

Result<void> WriterChoice::expectCarries(const TensorInfo& tensor) const
{
    return m_slime ? expectSlimeV2Carries(tensor, m_slimeEncoding) : expectTrlV2Carries(tensor);
}

std::vector<std::string> WriterChoice::committingKeys(std::int64_t step) const
{
    if (m_slime)
        return { fmt::format("weight_v{:06}/model.safetensors.index.json", step) };
    return { fmt::format("anchors/step_{:06}.safetensors", step), fmt::format("deltas/step_{:06}.safetensors", step) };
}

std::string WriterChoice::anchorKey(std::int64_t step) const { return committingKeys(step).front(); }

std::vector<std::string> WriterChoice::deltaKeys(std::int64_t step) const
{
    if (m_slime)
        return { fmt::format("weight_v{:06}/{}", step, SlimeV2DataFileName),
                 fmt::format("weight_v{:06}/model.safetensors.index.json", step) };
    return { fmt::format("deltas/step_{:06}.safetensors", step) };
}

Result<std::unique_ptr<VersionWriter>> WriterChoice::anchor(std::int64_t step, VersionFactMap facts,
                                                            std::vector<TensorInfo> tensors) const
{
    return makeTrlV2AnchorWriter(trlOptions(step, std::move(facts)), std::move(tensors));
}

Result<std::unique_ptr<VersionWriter>> WriterChoice::delta(std::int64_t step, VersionFactMap facts,
                                                           std::shared_ptr<const Backend> backend) const
{
    if (!m_slime)
        return makeTrlV2DeltaWriter(trlOptions(step, std::move(facts)));
    SlimeV2WriterOptions options;
    options.spoolFolder = m_spoolFolder;
    options.facts = std::move(facts);
    options.version = step;
    options.baseVersion = step - 1;
    options.encoding = m_slimeEncoding;
    options.checksum = m_checksum;
    options.backend = std::move(backend);
    options.replaceUnfinished = true; // who holds the lease knows that nobody else publishes here
    return makeSlimeV2DeltaWriter(options);
}

TrlV2WriterOptions WriterChoice::trlOptions(std::int64_t step, VersionFactMap facts) const
{
    TrlV2WriterOptions options;
    options.spoolFolder = m_spoolFolder;
    options.facts = std::move(facts);
    options.step = step;
    options.encoding = m_trlEncoding;
    return options;
}

} // namespace deltascope
