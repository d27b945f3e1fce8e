#include "deltascope/app/view/counted.h"
#include "deltascope/app/view/operation_view.h"
#include "make_views.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <utility>

namespace deltascope::app {

namespace {

/// Tensors that are meant, none of which stands on both sides with one dtype and shape.
struct Apart {
    std::uint64_t reshaped, onlyInA, onlyInB;
    bool isPart; ///< others are left out
    std::string a, b; ///< names of the sides
};

std::string reasonOf(const Apart& apart)
{
    const std::string meant = apart.isPart ? " that is meant" : "";
    if (apart.reshaped > 0 && apart.onlyInA + apart.onlyInB == 0)
        return fmt::format("each tensor{} has another dtype or shape in {} than in {}", meant, apart.b, apart.a);
    if (apart.reshaped == 0 && apart.onlyInA > 0 && apart.onlyInB > 0)
        return fmt::format("no tensor of {}{} is one of {}", apart.a, meant, apart.b);
    if (apart.reshaped == 0 && apart.onlyInA + apart.onlyInB > 0) {
        const std::string& has = apart.onlyInA > 0 ? apart.a : apart.b;
        const std::string& lacks = apart.onlyInA > 0 ? apart.b : apart.a;
        return apart.isPart ? fmt::format("each tensor{} is in {} alone", meant, has)
                            : fmt::format("{} has no tensor", lacks);
    }
    if (apart.reshaped == 0)
        return fmt::format("neither {} nor {} has a tensor", apart.a, apart.b);
    std::string text = fmt::format("{} {} another dtype or shape in {} than in {}", counted(apart.reshaped, "tensor"),
                                   apart.reshaped == 1 ? "has" : "have", apart.b, apart.a);
    for (const auto& [count, side] : { std::pair(apart.onlyInA, apart.a), std::pair(apart.onlyInB, apart.b) }) {
        if (count > 0)
            text += fmt::format(", {} {} in {} alone", countText(count), count == 1 ? "is" : "are", side);
    }
    return text;
}

std::string nothing(const Apart& apart) { return reasonOf(apart) + ": nothing was compared"; }

}

std::string nothingInCommonText(const DiffReport& report, bool isPart, std::string a, std::string b)
{
    return reasonOf(
        { report.reshaped.size(), report.onlyInA.size(), report.onlyInB.size(), isPart, std::move(a), std::move(b) });
}

std::string nothingComparedText(const DiffView& diff)
{
    if (diff.elementsTotal > 0 || !diff.tensors.empty() || (diff.equal && diff.tensorsTotal > 0))
        return {};
    if (diff.tensorsTotal > 0)
        return diff.tensorsTotal == 1
            ? "the only tensor that A and B share has no element: nothing was compared"
            : fmt::format("the {} tensors that A and B share have no elements: nothing was compared",
                          countText(diff.tensorsTotal));
    return nothing(
        { diff.reshaped.size(), diff.onlyInA.size(), diff.onlyInB.size(), diff.tensorsLeftOut > 0, "A", "B" });
}

std::string notRoundedText(const DiffView& diff)
{
    const auto isFloat = [](const std::string& dtype) { return dtype.starts_with("F") || dtype.starts_with("BF"); };
    std::set<std::string> texts;
    for (const ReshapedTensorView& tensor : diff.reshaped) {
        if (tensor.shapeA != tensor.shapeB || tensor.dtypeA == tensor.dtypeB || !isFloat(tensor.dtypeA)
            || !isFloat(tensor.dtypeB))
            continue;
        const bool isA = tensor.dtypeA.starts_with("F8");
        const bool isScaled = isA || tensor.dtypeB.starts_with("F8");
        texts.insert(fmt::format("{} in A and {} in B are not compared as rounded: {}", tensor.dtypeA, tensor.dtypeB,
                                 isScaled ? fmt::format("values of {} count with scales that are stored apart",
                                                        isA ? tensor.dtypeA : tensor.dtypeB)
                                          : "neither is a rounded form of the other"));
    }
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string nothingComparedText(const DigestCheckView& check)
{
    if (check.tensorsCompared > 0)
        return {};
    return nothing({ check.reshaped.size(), check.onlyInState.size(), check.onlyInDigests.size(), false, "the state",
                     "the document" });
}

} // namespace deltascope::app
