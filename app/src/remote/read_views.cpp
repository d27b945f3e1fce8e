#include "read_views.h"

#include "view/run_description.h"
#include "view/tensor_description.h"

namespace deltascope::app {

namespace {

/// Little-endian numbers at the begin of `bytes`, which are taken away. Errors: Unsupported.
Result<std::vector<std::uint32_t>> takeNumbers(std::string_view& bytes, std::uint64_t count)
{
    if (bytes.size() / 4 < count)
        return fail(Code::Unsupported, "the answer ends too early");
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(count));
    for (std::uint32_t& number : numbers) {
        for (unsigned i = 0; i < 4; ++i)
            number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
        bytes.remove_prefix(4);
    }
    return numbers;
}

}

StepDetailView readStepDetail(const json& from)
{
    return { readAs<StepView>(fieldOf(from, "step")), readEach(from, "tensors", readAs<TensorCountView>), {} };
}

Result<BlocksView> readBlocks(const std::string& body)
{
    const std::size_t end = body.find('\n');
    if (end == std::string::npos)
        return fail(Code::Unsupported, "the answer ends too early");
    DS_TRY(BlocksView view, readJson(body.substr(0, end), readAs<BlocksView>));
    std::string_view counts = std::string_view(body).substr(end + 1);
    DS_TRY(view.blocks, takeNumbers(counts, std::uint64_t { view.blockRows } * view.blockCols));
    DS_TRY(view.rowCounts, takeNumbers(counts, view.rows));
    DS_TRY(view.colCounts, takeNumbers(counts, view.cols));
    return view;
}

} // namespace deltascope::app
