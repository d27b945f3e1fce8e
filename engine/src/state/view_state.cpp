#include "state/view_state.h"

#include "deltascope/engine/patch.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace deltascope {

namespace {

std::uint64_t elementsPerBlock(Dtype dtype) { return blockBytesOf(dtype) * 8 / bitsOf(dtype); }

/// What one slice of a view needs of one part.
struct Stretch {
    std::optional<std::size_t> slice; ///< of the walk over the other state; nothing: zeros
    std::uint64_t skip = 0; ///< bytes at the begin of that slice, which begins with a block
    std::uint64_t bytes = 0;
};

/// The worse of both.
SliceEvidence together(const SliceEvidence& a, const SliceEvidence& b)
{
    return { a.noopsSeen || b.noopsSeen, a.digestsChecked + b.digestsChecked, a.digestsMatch && b.digestsMatch,
             std::max(a.compared, b.compared) };
}

class ViewReader final : public SliceReader {
public:
    /// Both outlive it.
    ViewReader(StateWalk& walk, const std::vector<Stretch>& stretches, std::uint64_t blockBytes)
        : m_walk(walk)
        , m_stretches(stretches)
        , m_blockBytes(blockBytes)
    {
    }

    Result<ByteSpan> next(TaskContext& task) override
    {
        for (; m_at < m_stretches.size(); ++m_at, m_given = 0) {
            const Stretch& stretch = m_stretches[m_at];
            DS_TRY(const ByteSpan block, stretch.slice ? read(stretch, task) : zeros(stretch, task));
            if (!block.empty())
                return block;
            if (m_given != stretch.bytes)
                return fail(Code::Internal, "a tensor of a view ends before its part does");
        }
        return ByteSpan();
    }
    SliceEvidence evidence() const noexcept override { return m_evidence.value_or(SliceEvidence {}); }

private:
    Result<ByteSpan> zeros(const Stretch& stretch, TaskContext& task)
    {
        DS_CHECK(task.checkpoint());
        m_zeros.resize(std::min(m_blockBytes, stretch.bytes - m_given));
        m_given += m_zeros.size();
        return ByteSpan(m_zeros);
    }

    /// Empty once the slice of the other state is read to its end.
    Result<ByteSpan> read(const Stretch& stretch, TaskContext& task)
    {
        if (!m_reader) {
            DS_TRY(m_reader, m_walk.open(*stretch.slice, task));
            m_skip = stretch.skip;
        }
        for (;;) {
            DS_TRY(const ByteSpan block, m_reader->next(task));
            if (block.empty()) {
                const SliceEvidence shown = m_reader->evidence();
                m_evidence = m_evidence ? together(*m_evidence, shown) : shown;
                m_reader.reset();
                return ByteSpan();
            }
            const std::uint64_t skipped = std::min<std::uint64_t>(m_skip, block.size());
            m_skip -= skipped;
            if (skipped == block.size())
                continue;
            m_given += block.size() - skipped;
            return block.subspan(skipped);
        }
    }

    StateWalk& m_walk;
    const std::vector<Stretch>& m_stretches;
    std::uint64_t m_blockBytes;
    std::size_t m_at = 0; ///< the present stretch
    std::uint64_t m_given = 0; ///< bytes of it
    std::uint64_t m_skip = 0; ///< bytes to be left out yet
    std::unique_ptr<SliceReader> m_reader; ///< of it, once it is opened
    std::vector<std::byte> m_zeros;
    std::optional<SliceEvidence> m_evidence;
};

class ViewWalk final : public StateWalk {
public:
    /// `stretches`: of each slice. `state` outlives it.
    ViewWalk(const State& state, std::unique_ptr<StateWalk> walk, std::vector<TensorSlice> slices,
             std::vector<std::vector<Stretch>> stretches)
        : StateWalk(std::move(slices))
        , m_state(state)
        , m_walk(std::move(walk))
        , m_stretches(std::move(stretches))
    {
    }

    const TensorInfo& tensor(std::size_t at) const noexcept override { return m_state.tensors()[slice(at).tensor]; }
    unsigned readersAtOnce(unsigned threads) const noexcept override { return m_walk->readersAtOnce(threads); }
    ReadsAhead readAhead(TaskContext& task) const override { return m_walk->readAhead(task); }
    Result<std::unique_ptr<SliceReader>> open(std::size_t at, TaskContext&) override
    {
        return std::unique_ptr<SliceReader>(
            std::make_unique<ViewReader>(*m_walk, m_stretches[at], blockBytesOf(tensor(at).dtype)));
    }
    Result<WalkEvidence> finish() override { return m_walk->finish(); }

private:
    const State& m_state;
    std::unique_ptr<StateWalk> m_walk;
    std::vector<std::vector<Stretch>> m_stretches;
};

class ViewState final : public State {
public:
    /// `tensors` ascend by name.
    ViewState(const State& state, std::vector<TensorRecipe> tensors)
        : m_state(state)
        , m_recipes(std::move(tensors))
    {
        m_tensors.reserve(m_recipes.size());
        for (const TensorRecipe& recipe : m_recipes)
            m_tensors.push_back(&recipe.info);
    }

    TensorRange tensors() const noexcept override { return TensorRange(m_tensors); }
    StatePlace place() const override { return m_state.place(); }
    std::optional<std::string_view> fileOf(std::size_t tensor) const override
    {
        const std::vector<ViewPart>& parts = m_recipes[tensor].parts;
        return parts.size() == 1 && parts.front().tensor ? m_state.fileOf(*parts.front().tensor) : std::nullopt;
    }
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override
    {
        std::vector<std::vector<Stretch>> stretches;
        stretches.reserve(slices.size());
        std::vector<TensorSlice> wanted;
        for (const TensorSlice& slice : slices)
            stretches.push_back(stretchesOf(slice, wanted));
        options.observer = nullptr;
        DS_TRY(std::unique_ptr<StateWalk> walk, m_state.walk(std::move(wanted), std::move(options)));
        return std::unique_ptr<StateWalk>(
            std::make_unique<ViewWalk>(*this, std::move(walk), std::move(slices), std::move(stretches)));
    }
    bool hasDigests() const noexcept override { return m_state.hasDigests(); }
    Result<void> checkWhole(TaskContext& task) const override { return m_state.checkWhole(task); }
    Result<std::optional<AdapterConfig>> adapterConfig(TaskContext& task) const override
    {
        return m_state.adapterConfig(task);
    }
    Result<void> expectSoundReads(TaskContext& task) const override { return m_state.expectSoundReads(task); }
    Result<void> expectUnchanged(TaskContext& task) const override { return m_state.expectUnchanged(task); }
    std::vector<std::string> rewritten() const override { return m_state.rewritten(); }
    std::vector<Error> readNotices() const override { return m_state.readNotices(); }
    Error reasonOf(Error error, TaskContext& task) const override { return m_state.reasonOf(std::move(error), task); }

private:
    /// Adds to `wanted` what is read of the other state.
    std::vector<Stretch> stretchesOf(const TensorSlice& slice, std::vector<TensorSlice>& wanted) const
    {
        const TensorRecipe& recipe = m_recipes[slice.tensor];
        const unsigned bits = bitsOf(recipe.info.dtype);
        const std::uint64_t end = std::min(slice.end, recipe.info.elements());
        std::vector<Stretch> stretches;
        std::uint64_t partBegin = 0; // in the tensor of the view
        for (const ViewPart& part : recipe.parts) {
            const std::uint64_t partEnd = partBegin + part.elements;
            const std::uint64_t from = std::max(slice.begin, partBegin);
            const std::uint64_t to = std::min(end, partEnd);
            if (from < to) {
                Stretch stretch { std::nullopt, 0, ((to - from) * bits + 7) / 8 };
                if (part.tensor) {
                    const TensorInfo& other = m_state.tensors()[*part.tensor];
                    const std::uint64_t begin = part.begin + (from - partBegin);
                    const std::uint64_t block = begin - begin % elementsPerBlock(other.dtype);
                    stretch.slice = wanted.size();
                    stretch.skip = (begin - block) * bits / 8;
                    wanted.push_back({ *part.tensor, block, part.begin + (to - partBegin) });
                }
                stretches.push_back(stretch);
            }
            partBegin = partEnd;
        }
        return stretches;
    }

    const State& m_state;
    std::vector<TensorRecipe> m_recipes; ///< by name
    std::vector<const TensorInfo*> m_tensors; ///< of the recipes
};

/// What is wrong with a recipe; empty: nothing.
std::string faultOf(const TensorRecipe& recipe, const State& state)
{
    if (!checkedSize(recipe.info))
        return "is too large to be one tensor";
    std::uint64_t elements = 0;
    for (const ViewPart& part : recipe.parts) {
        elements += part.elements;
        if (!part.tensor)
            continue;
        if (*part.tensor >= state.tensors().size())
            return "takes a part of a tensor that the state lacks";
        const TensorInfo& other = state.tensors()[*part.tensor];
        const std::uint64_t all = other.elements();
        if (other.dtype != recipe.info.dtype)
            return fmt::format("is {} and takes a part of {}, which is {}", word(recipe.info.dtype),
                               quoteName(other.name), word(other.dtype));
        if (part.begin > all || part.elements > all - part.begin)
            return fmt::format("takes elements {} to {} of {}, which has {}", part.begin, part.begin + part.elements,
                               quoteName(other.name), all);
    }
    const unsigned bits = bitsOf(recipe.info.dtype);
    std::uint64_t begin = 0;
    for (const ViewPart& part : recipe.parts) {
        if (part.begin * bits % 8 != 0 || begin * bits % 8 != 0)
            return "has a part that begins within a byte";
        begin += part.elements;
    }
    if (elements != recipe.info.elements())
        return fmt::format("has parts of {} elements, and its shape makes {}", elements, recipe.info.elements());
    return {};
}

}

TensorRecipe wholeTensor(const State& state, std::size_t tensor)
{
    const TensorInfo& info = state.tensors()[tensor];
    return { info, { { tensor, 0, info.elements() } } };
}

Result<std::unique_ptr<State>> viewOf(const State& state, std::vector<TensorRecipe> tensors)
{
    std::sort(tensors.begin(), tensors.end(),
              [](const TensorRecipe& a, const TensorRecipe& b) { return a.info.name < b.info.name; });
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const TensorInfo& info = tensors[i].info;
        if (i > 0 && tensors[i - 1].info.name == info.name)
            return fail(Code::Usage, fmt::format("two tensors would have the name {}", quoteName(info.name)),
                        state.place().where);
        const std::string fault = faultOf(tensors[i], state);
        if (!fault.empty())
            return fail(Code::Usage, fmt::format("tensor {} of a view {}", quoteName(info.name), fault),
                        state.place().where);
    }
    return std::unique_ptr<State>(std::make_unique<ViewState>(state, std::move(tensors)));
}

Result<std::unique_ptr<State>> renamed(const State& state, const std::map<std::size_t, std::string>& names)
{
    std::vector<TensorRecipe> recipes;
    recipes.reserve(state.tensors().size());
    for (std::size_t i = 0; i < state.tensors().size(); ++i) {
        recipes.push_back(wholeTensor(state, i));
        if (const auto other = names.find(i); other != names.end())
            recipes.back().info.name = other->second;
    }
    return viewOf(state, std::move(recipes));
}

} // namespace deltascope
