#include "catalog_texts.h"

#include "error_json.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace deltascope {

using nlohmann::json;

namespace {

void addSuspects(json& detail, const char* key, const std::vector<SuspectTensor>& suspects)
{
    for (const SuspectTensor& suspect : suspects)
        detail[key].push_back(
            { suspect.name, static_cast<unsigned>(suspect.suspicion), suspect.figure, suspect.usual });
}

std::vector<SuspectTensor> suspectsIn(const json& detail, const char* key)
{
    std::vector<SuspectTensor> suspects;
    const auto rows = detail.find(key);
    if (rows == detail.end() || !rows->is_array())
        return suspects;
    for (const json& row : *rows) {
        if (row.is_array() && row.size() == 4 && row[0].is_string() && row[1].is_number_unsigned()
            && row[1] <= static_cast<unsigned>(Suspicion::ZeroLayer) && row[2].is_number() && row[3].is_number())
            suspects.push_back({ row[0].get<std::string>(), static_cast<Suspicion>(row[1].get<unsigned>()),
                                 row[2].get<double>(), row[3].get<double>() });
    }
    return suspects;
}

json formDetailOf(const FormFacts& facts)
{
    json detail = json::object();
    if (facts.differs)
        detail = { { "differs", *facts.differs }, { "compared_with", facts.comparedWith } };
    if (facts.zeroSigns > 0)
        detail["zero_signs"] = facts.zeroSigns;
    if (facts.vouchedFor)
        detail["vouched_for"] = true;
    addSuspects(detail, "suspect", facts.suspects);
    if (facts.damage)
        detail["damage"] = errorToJson(*facts.damage);
    return detail;
}

FormFacts formFactsIn(const json& detail)
{
    FormFacts facts;
    if (!detail.is_object())
        return facts;
    const auto number = [&](const char* key) {
        const auto at = detail.find(key);
        return at != detail.end() && at->is_number_unsigned() ? std::optional(at->get<std::uint64_t>()) : std::nullopt;
    };
    facts.differs = number("differs");
    facts.comparedWith = number("compared_with").value_or(0);
    facts.zeroSigns = number("zero_signs").value_or(0);
    facts.vouchedFor = detail.contains("vouched_for");
    facts.suspects = suspectsIn(detail, "suspect");
    if (const auto damage = detail.find("damage"); damage != detail.end())
        facts.damage = errorFromJson(*damage);
    return facts;
}

}

std::string notesToText(const std::vector<Error>& notes)
{
    if (notes.empty())
        return {};
    json list = json::array();
    for (const Error& note : notes)
        list.push_back(errorToJson(note));
    return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<Error> notesFromText(const std::string& text)
{
    std::vector<Error> notes;
    if (text.empty())
        return notes;
    const json list = json::parse(text, nullptr, false);
    if (list.is_array()) {
        for (const json& note : list)
            notes.push_back(errorFromJson(note));
    }
    return notes;
}

std::string extrasOf(const VersionSummary& summary)
{
    json extras = json::object();
    const auto add = [&](const char* key, const std::string& value) {
        if (!value.empty())
            extras[key] = value;
    };
    add("run", summary.run);
    add("root", summary.root);
    add("base_root", summary.baseRoot);
    add("origin", summary.origin);
    add("branch", summary.branch);
    add("id", summary.id);
    add("base_id", summary.baseId);
    add("state_digest", summary.stateDigest);
    if (summary.restores)
        extras["restores"] = *summary.restores;
    if (summary.lossy)
        extras["lossy"] = true;
    if (summary.hasChecksums)
        extras["checksums"] = true;
    return extras.empty() ? std::string() : extras.dump(-1, ' ', false, json::error_handler_t::replace);
}

void addExtras(VersionSummary& summary, const std::string& text)
{
    if (text.empty())
        return;
    const json extras = json::parse(text, nullptr, false);
    if (!extras.is_object())
        return;
    summary.run = textOf(extras, "run");
    summary.root = textOf(extras, "root");
    summary.baseRoot = textOf(extras, "base_root");
    summary.origin = textOf(extras, "origin");
    summary.branch = textOf(extras, "branch");
    summary.id = textOf(extras, "id");
    summary.baseId = textOf(extras, "base_id");
    summary.stateDigest = textOf(extras, "state_digest");
    if (const auto restores = extras.find("restores"); restores != extras.end() && restores->is_number_integer())
        summary.restores = restores->get<std::int64_t>();
    summary.lossy = extras.contains("lossy");
    summary.hasChecksums = extras.contains("checksums");
}

std::string detailOf(const VersionFacts& facts)
{
    json detail = json::object();
    if (!facts.firstFailedTensor.empty())
        detail = { { "tensor", facts.firstFailedTensor },
                   { "expected", facts.expectedDigest },
                   { "actual", facts.actualDigest } };
    if (facts.rootCheck != VersionFacts::RootCheck::None)
        detail["root_check"] = static_cast<int>(facts.rootCheck);
    if (!facts.actualRoot.empty())
        detail["actual_root"] = facts.actualRoot;
    if (facts.restores)
        detail["restores"] = *facts.restores;
    if (facts.damage)
        detail["damage"] = errorToJson(*facts.damage);
    if (!facts.replayed)
        detail["only_other_form"] = true;
    if (facts.zeroSigns > 0)
        detail["zero_signs"] = facts.zeroSigns;
    if (facts.sameLowByte > 0)
        detail["same_low_byte"] = facts.sameLowByte;
    for (const TensorDrift& drift : facts.driftedTensors)
        detail["drifted"].push_back({ drift.name, drift.differs, drift.usual, drift.farMoved });
    for (const RevertedTensor& tensor : facts.revertedTensors)
        detail["reverted"].push_back({ tensor.name, tensor.step, tensor.changed });
    if (facts.revertsAll)
        detail["reverts_all"] = true;
    addSuspects(detail, "suspect", facts.suspectTensors);
    if (!facts.infiniteTensors.empty())
        detail["infinite"] = facts.infiniteTensors;
    for (const FormFacts& form : facts.otherForms)
        detail["other_forms"].push_back(formDetailOf(form));
    return detail.empty() ? std::string() : detail.dump(-1, ' ', false, json::error_handler_t::replace);
}

void addDetail(VersionFacts& facts, const std::string& text)
{
    if (text.empty())
        return;
    const json detail = json::parse(text, nullptr, false);
    if (!detail.is_object())
        return;
    facts.firstFailedTensor = textOf(detail, "tensor");
    facts.expectedDigest = textOf(detail, "expected");
    facts.actualDigest = textOf(detail, "actual");
    facts.actualRoot = textOf(detail, "actual_root");
    if (const auto check = detail.find("root_check");
        check != detail.end() && check->is_number_unsigned() && *check <= 3U)
        facts.rootCheck = static_cast<VersionFacts::RootCheck>(check->get<unsigned>());
    if (const auto damage = detail.find("damage"); damage != detail.end())
        facts.damage = errorFromJson(*damage);
    if (const auto restores = detail.find("restores"); restores != detail.end() && restores->is_boolean())
        facts.restores = restores->get<bool>();
    facts.replayed = !detail.contains("only_other_form");
    if (const auto signs = detail.find("zero_signs"); signs != detail.end() && signs->is_number_unsigned())
        facts.zeroSigns = signs->get<std::uint64_t>();
    if (const auto same = detail.find("same_low_byte"); same != detail.end() && same->is_number_unsigned())
        facts.sameLowByte = same->get<std::uint64_t>();
    if (const auto drifted = detail.find("drifted"); drifted != detail.end() && drifted->is_array()) {
        for (const json& drift : *drifted) {
            if (drift.is_array() && drift.size() == 4 && drift[0].is_string() && drift[1].is_number_unsigned()
                && drift[2].is_number_unsigned() && drift[3].is_number_unsigned())
                facts.driftedTensors.push_back({ drift[0].get<std::string>(), drift[1].get<std::uint64_t>(),
                                                 drift[2].get<std::uint64_t>(), drift[3].get<std::uint64_t>() });
        }
    }
    if (const auto reverted = detail.find("reverted"); reverted != detail.end() && reverted->is_array()) {
        for (const json& tensor : *reverted) {
            if (tensor.is_array() && tensor.size() == 3 && tensor[0].is_string() && tensor[1].is_number_integer()
                && tensor[2].is_number_unsigned())
                facts.revertedTensors.push_back(
                    { tensor[0].get<std::string>(), tensor[1].get<std::int64_t>(), tensor[2].get<std::uint64_t>() });
        }
    }
    facts.revertsAll = detail.contains("reverts_all");
    facts.suspectTensors = suspectsIn(detail, "suspect");
    if (const auto masks = detail.find("infinite"); masks != detail.end() && masks->is_array()) {
        for (const json& name : *masks) {
            if (name.is_string())
                facts.infiniteTensors.push_back(name.get<std::string>());
        }
    }
    if (const auto others = detail.find("other_forms"); others != detail.end() && others->is_array()) {
        for (const json& form : *others)
            facts.otherForms.push_back(formFactsIn(form));
    }
}

} // namespace deltascope
