#include "read_views.h"

#include "view/times.h"

namespace deltascope::app {

namespace {

ObjectView readObject(const json& from)
{
    return { read<std::string>(from, "key"), read<std::uint64_t>(from, "size"),
             read<std::int64_t>(from, "modified_at") };
}

RestoreView readRestore(const json& from)
{
    return { read<std::uint64_t>(from, "deltas"), read<std::uint64_t>(from, "bytes"), readText(from, "reason"),
             readOptional<std::int64_t>(from, "blocked_by") };
}

TensorCountView readCount(const json& from)
{
    return { read<std::string>(from, "name"),
             read<std::string>(from, "dtype"),
             readList<std::uint64_t>(from, "shape"),
             readOptional<std::uint64_t>(from, "changed_elems"),
             readOptional<std::uint64_t>(from, "changed_vs_prev_elems"),
             read<std::uint64_t>(from, "total_elems") };
}

HeaderView::Tensor readHeaderTensor(const json& from)
{
    return { read<std::string>(from, "name"), read<std::string>(from, "dtype"), readList<std::uint64_t>(from, "shape"),
             read<std::uint64_t>(from, "bytes") };
}

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

BlocksView readBlocksHead(const json& from)
{
    BlocksView view;
    view.tensor = read<std::string>(from, "tensor");
    view.dtype = read<std::string>(from, "dtype");
    view.shape = readList<std::uint64_t>(from, "shape");
    view.rows = read<std::uint64_t>(from, "rows");
    view.cols = read<std::uint64_t>(from, "cols");
    view.blockRows = read<std::uint32_t>(from, "block_rows");
    view.blockCols = read<std::uint32_t>(from, "block_cols");
    view.rowsPerBlock = read<std::uint32_t>(from, "rows_per_block");
    view.colsPerBlock = read<std::uint32_t>(from, "cols_per_block");
    view.changed = read<std::uint64_t>(from, "changed");
    view.total = read<std::uint64_t>(from, "total");
    view.deadRows = read<std::uint64_t>(from, "dead_rows");
    view.deadCols = read<std::uint64_t>(from, "dead_cols");
    view.giniOfRows = readOptional<double>(from, "gini_rows");
    view.topRows = readEach(from, "top_rows", [](const json& row) {
        return std::pair(read<std::uint64_t>(row, "row"), read<std::uint32_t>(row, "changed"));
    });
    view.a = readOptional<std::int64_t>(from, "a");
    const bool covers = std::uint64_t { view.blockRows } * view.rowsPerBlock >= view.rows
        && std::uint64_t { view.blockCols } * view.colsPerBlock >= view.cols;
    if (!covers || view.rowsPerBlock == 0 || view.colsPerBlock == 0)
        throw Unfit { "\"block_rows\" and \"block_cols\" do not cover the tensor" };
    return view;
}

}

ProblemView readProblem(const json& from)
{
    return { read<std::string>(from, "code"), readOptional<std::int64_t>(from, "step"),
             read<std::string>(from, "where"), read<std::string>(from, "text"), read<std::string>(from, "remedy") };
}

FormView readForm(const json& from)
{
    FormView form;
    form.name = read<std::string>(from, "name");
    form.kind = read<std::string>(from, "kind");
    form.baseStep = readOptional<std::int64_t>(from, "base_step");
    form.wireBytes = read<std::uint64_t>(from, "wire_bytes");
    form.restore = readRestore(fieldOf(from, "restore"));
    form.evidence = read<std::string>(from, "evidence");
    form.isUsed = read<bool>(from, "used");
    form.isTrained = read<std::string>(from, "state") == "trained";
    form.isCopy = read<bool>(from, "copy");
    return form;
}

StepView readStep(const json& from)
{
    StepView step;
    step.epoch = read<int>(from, "epoch");
    step.step = read<std::int64_t>(from, "step");
    step.kind = read<std::string>(from, "kind");
    step.state = read<std::string>(from, "state");
    if (step.state == "gap") {
        step.lastMissing = read<std::int64_t>(from, "last_step");
        if (from.contains("reason"))
            step.restore.reason = read<std::string>(from, "reason");
        return step;
    }
    step.name = read<std::string>(from, "name");
    step.baseStep = readOptional<std::int64_t>(from, "base_step");
    step.changedElements = readOptional<std::uint64_t>(from, "changed_elems");
    step.changedVsPrevious = readOptional<std::uint64_t>(from, "changed_vs_prev_elems");
    step.totalElements = readOptional<std::uint64_t>(from, "total_elems");
    step.changedFraction = readOptional<double>(from, "changed_frac");
    step.claimedElements = readOptional<std::uint64_t>(from, "claimed_elems");
    step.wireBytes = read<std::uint64_t>(from, "wire_bytes");
    step.publishedUs = read<std::int64_t>(from, "published_at");
    if (step.publishedUs < -FarthestUs || step.publishedUs > FarthestUs)
        throw Unfit { "\"published_at\" is no time" };
    step.pauseMs = readOptional<double>(from, "pause_ms");
    step.pauseIsLogged = readText(from, "spans_from") == "logs";
    step.restorable = read<bool>(from, "restorable");
    step.proven = read<bool>(from, "proven");
    step.restore = readRestore(fieldOf(from, "restore"));
    step.objects = readEach(from, "objects", readObject);
    if (from.contains("forms"))
        step.forms = readEach(from, "forms", readForm);
    step.problems = readEach(from, "problems", readProblem);
    if (from.contains("refs"))
        step.refs = readEach(from, "refs", [](const json& word) { return valueOf<std::string>(word, "refs"); });
    if (from.contains("restores"))
        step.restores = read<std::int64_t>(from, "restores");
    if (from.contains("branch_of"))
        step.branchOf = read<std::string>(from, "branch_of");
    return step;
}

std::optional<StoreMeterView> readMeter(const json& run)
{
    const auto meter = run.find("store_meter"); // servers before 0.2 send none
    if (meter == run.end() || meter->is_null())
        return std::nullopt;
    return StoreMeterView { read<std::string>(*meter, "source"),      read<std::uint64_t>(*meter, "requests"),
                            read<std::uint64_t>(*meter, "retries"),   read<std::uint64_t>(*meter, "bytes_in"),
                            read<std::uint64_t>(*meter, "bytes_out"), read<std::uint64_t>(*meter, "bytes_from_cache") };
}

DriftView readDrift(const json& from)
{
    return { read<int>(from, "epoch"), read<std::int64_t>(from, "step"), read<std::uint64_t>(from, "differs_elems"),
             read<std::uint64_t>(from, "zero_sign_elems"), readOptional<std::uint64_t>(from, "estimate_elems") };
}

NoteView readNote(const json& from)
{
    return { read<std::string>(from, "actor"), readOptional<std::int64_t>(from, "step"),
             readOptional<std::int64_t>(from, "t_us"), read<std::string>(from, "text") };
}

RefView readRef(const json& from)
{
    RefView ref;
    ref.word = read<std::string>(from, "word");
    ref.isPin = read<bool>(from, "pin");
    ref.step = readOptional<std::int64_t>(from, "step");
    ref.epoch = read<int>(from, "epoch");
    ref.isHere = read<bool>(from, "here");
    ref.by = read<std::string>(from, "by");
    ref.why = readText(from, "why");
    ref.tUs = read<std::int64_t>(from, "t_us");
    ref.isLocal = read<bool>(from, "local");
    if (const json& problem = fieldOf(from, "problem"); !problem.is_null())
        ref.problem = readProblem(problem);
    return ref;
}

SpanView readSpan(const json& from)
{
    SpanView span { read<std::string>(from, "actor"),  read<std::string>(from, "phase"),
                    read<int>(from, "epoch"),          read<std::int64_t>(from, "step"),
                    read<std::int64_t>(from, "t0_us"), read<std::int64_t>(from, "t1_us"),
                    read<std::uint64_t>(from, "bytes") };
    if (span.t0Us < 0 || span.t1Us < span.t0Us || span.t1Us > LastUs || span.t1Us - span.t0Us > LongestUs)
        throw Unfit { "a span lies at no time" };
    return span;
}

ReplicaView readReplica(const json& from)
{
    ReplicaView replica;
    replica.id = read<std::string>(from, "id");
    replica.engine = read<std::string>(from, "engine");
    replica.state = read<std::string>(from, "state");
    replica.step = readOptional<std::int64_t>(from, "step");
    replica.behind = readOptional<std::int64_t>(from, "behind");
    replica.ageSeconds = read<double>(from, "age_s");
    replica.late = read<bool>(from, "late");
    replica.lagging = read<bool>(from, "lagging");
    if (from.contains("foreign")) { // a server of an earlier version does not judge
        replica.foreign = read<bool>(from, "foreign");
        replica.doubt = readText(from, "doubt");
    }
    replica.detail = read<std::string>(from, "detail");
    return replica;
}

StepDetailView readStepDetail(const json& from)
{
    return { readStep(fieldOf(from, "step")), readEach(from, "tensors", readCount), {} };
}

ListingView readListing(const json& from)
{
    ListingView view;
    view.source = read<std::string>(from, "source");
    view.layout = readText(from, "layout");
    view.objects = readEach(from, "objects", [](const json& row) {
        ListingEntryView entry { readObject(row), readOptional<std::int64_t>(row, "step"), readText(row, "kind"), {} };
        if (row.contains("needed_by")) // bundles of version 2 do not say it
            entry.neededBy = readOptional<std::uint64_t>(row, "needed_by");
        return entry;
    });
    return view;
}

HeaderView readHeaderView(const json& from)
{
    HeaderView view;
    view.key = read<std::string>(from, "key");
    view.headerBytes = read<std::uint64_t>(from, "header_bytes");
    const json& metadata = fieldOf(from, "metadata");
    if (!metadata.is_object() && !metadata.is_null())
        throw Unfit { "\"metadata\" is no object" };
    for (const auto& [key, value] : metadata.items())
        view.metadata.emplace(key, valueOf<std::string>(value, "metadata"));
    view.tensors = readEach(from, "tensors", readHeaderTensor);
    view.tensorsTotal = read<std::uint64_t>(from, "tensors_total");
    return view;
}

ElementsView readElements(const json& from)
{
    ElementsView view;
    view.tensor = read<std::string>(from, "tensor");
    view.dtype = read<std::string>(from, "dtype");
    view.row = read<std::uint64_t>(from, "row");
    view.col = read<std::uint64_t>(from, "col");
    view.rows = read<std::uint64_t>(from, "rows");
    view.cols = read<std::uint64_t>(from, "cols");
    view.a = readOptional<std::int64_t>(from, "a");
    view.step = read<std::int64_t>(from, "step");
    view.newBits = readList<std::string>(from, "new_bits");
    view.newValues = readOptionals<double>(from, "new_values");
    if (view.a) {
        view.oldBits = readList<std::string>(from, "old_bits");
        view.oldValues = readOptionals<double>(from, "old_values");
    }
    const std::size_t cells = view.newBits.size();
    const bool whole = view.rows <= cells && view.cols <= cells && view.rows * view.cols == cells;
    if (!whole || view.newValues.size() != cells || (view.a && view.oldBits.size() != cells)
        || (view.a && view.oldValues.size() != cells))
        throw Unfit { "\"new_bits\" is not of the size that is told" };
    return view;
}

Result<BlocksView> readBlocks(const std::string& body)
{
    const std::size_t end = body.find('\n');
    if (end == std::string::npos)
        return fail(Code::Unsupported, "the answer ends too early");
    DS_TRY(BlocksView view, readJson(body.substr(0, end), readBlocksHead));
    std::string_view counts = std::string_view(body).substr(end + 1);
    DS_TRY(view.blocks, takeNumbers(counts, std::uint64_t { view.blockRows } * view.blockCols));
    DS_TRY(view.rowCounts, takeNumbers(counts, view.rows));
    DS_TRY(view.colCounts, takeNumbers(counts, view.cols));
    return view;
}

} // namespace deltascope::app
