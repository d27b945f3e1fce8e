#include "deltascope/engine/beside.h"

#include "beside/beside_json.h"
#include "beside/series.h"
#include "deltascope/engine/beside_keys.h"
#include "deltascope/engine/hash_tree.h"
#include "store/read_texts.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace deltascope {

namespace {

constexpr std::uint64_t MostObjectBytes = std::uint64_t { 64 } << 10; ///< larger ones are not ours
constexpr std::size_t MostTextBytes = std::size_t { 4 } << 10;
constexpr std::size_t MostNotes = 10'000; ///< the newest are read

std::string folderOf(RefKind kind, std::string_view name)
{
    return fmt::format("{}{}/", kind == RefKind::Pin ? beside::Pins : beside::Refs, name);
}

Error notOurs(const ObjectInfo& object)
{
    return Error { Code::Hostile, "the object is not what Deltascope writes under this name", object.key, std::nullopt,
                   "Remove it, or update this program if a newer one wrote it." };
}

/// The text of each object, or why there is none.
Result<std::vector<Result<std::string>>> textsOf(const ObjectStore& store, const std::vector<SeriesObject>& objects,
                                                 TaskContext& task)
{
    std::vector<ObjectInfo> infos;
    for (const SeriesObject& object : objects)
        infos.push_back(object.object);
    return readTexts(store, infos, MostObjectBytes, task);
}

/// The names in a folder of series, each with its objects.
std::map<std::string, std::vector<SeriesObject>> seriesOf(const std::vector<ObjectInfo>& listing,
                                                          std::string_view folder)
{
    std::map<std::string, std::vector<ObjectInfo>> objects;
    for (const ObjectInfo& object : listing) {
        if (!object.key.starts_with(folder))
            continue;
        const std::string_view rest = std::string_view(object.key).substr(folder.size());
        const std::string_view name = rest.substr(0, rest.find('/'));
        if (name.size() < rest.size() && checkRefName(name))
            objects[std::string(name)].push_back(object);
    }
    std::map<std::string, std::vector<SeriesObject>> series;
    for (const auto& [name, of] : objects) {
        std::vector<SeriesObject> numbered = Series::in(of, fmt::format("{}{}/", folder, name));
        if (!numbered.empty())
            series.emplace(name, std::move(numbered));
    }
    return series;
}

Result<void> readRefs(const ObjectStore& store, const std::vector<ObjectInfo>& listing, RefKind kind, bool isLocal,
                      Annotations& annotations, TaskContext& task)
{
    std::vector<std::string> names;
    std::vector<SeriesObject> newest;
    for (const auto& [name, objects] : seriesOf(listing, kind == RefKind::Pin ? beside::Pins : beside::Refs)) {
        names.push_back(name);
        newest.push_back(*Series::newest(objects));
    }
    DS_TRY(const std::vector<Result<std::string>> texts, textsOf(store, newest, task));
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::optional<Ref> ref = texts[i] ? refFromText(*texts[i]) : std::nullopt;
        if (!ref) {
            ref.emplace();
            ref->failure = texts[i] ? notOurs(newest[i].object) : texts[i].error();
            annotations.problems.push_back(*ref->failure);
        }
        ref->kind = kind;
        ref->name = names[i];
        ref->number = newest[i].number;
        ref->isLocal = isLocal;
        (ref->target || ref->failure ? annotations.refs : annotations.formerRefs).push_back(std::move(*ref));
    }
    return {};
}

Result<void> readNotes(const ObjectStore& store, const std::vector<ObjectInfo>& listing, bool isLocal,
                       Annotations& annotations, TaskContext& task)
{
    std::vector<SeriesObject> objects = Series::in(listing, beside::Notes);
    if (objects.size() > MostNotes)
        objects.erase(objects.begin(), objects.end() - static_cast<std::ptrdiff_t>(MostNotes));
    DS_TRY(const std::vector<Result<std::string>> texts, textsOf(store, objects, task));
    for (std::size_t i = 0; i < objects.size(); ++i) {
        std::optional<Note> note = texts[i] ? noteFromText(*texts[i]) : std::nullopt;
        if (!note) {
            annotations.problems.push_back(texts[i] ? notOurs(objects[i].object) : texts[i].error());
            continue;
        }
        note->number = objects[i].number;
        note->isLocal = isLocal;
        annotations.notes.push_back(std::move(*note));
    }
    return {};
}

Result<void> addAnnotations(const ObjectStore& store, const std::vector<ObjectInfo>& listing, bool isLocal,
                            Annotations& annotations, TaskContext& task)
{
    DS_CHECK(readRefs(store, listing, RefKind::Ref, isLocal, annotations, task));
    DS_CHECK(readRefs(store, listing, RefKind::Pin, isLocal, annotations, task));
    return readNotes(store, listing, isLocal, annotations, task);
}

Result<void> addEntries(const ObjectStore& store, bool isLocal, std::vector<JournalEntry>& entries, TaskContext& task)
{
    DS_TRY(const std::vector<ObjectInfo> listing, listAll(store, beside::Journal, task));
    const std::vector<SeriesObject> objects = Series::in(listing, beside::Journal);
    DS_TRY(const std::vector<Result<std::string>> texts, textsOf(store, objects, task));
    for (std::size_t i = 0; i < objects.size(); ++i) {
        std::optional<JournalEntry> entry = texts[i] ? entryFromText(*texts[i]) : std::nullopt;
        if (!entry) { // something was done, although nobody can read what
            entry.emplace();
            entry->phase = "unreadable";
            entry->text = texts[i] ? notOurs(objects[i].object).text : texts[i].error().text;
            entry->keys = { objects[i].object.key };
        }
        entry->number = objects[i].number;
        entry->isLocal = isLocal;
        entries.push_back(std::move(*entry));
    }
    return {};
}

/// Each in its own order, whatever the clocks of their writers say; an entry that cannot be read has no time.
std::vector<JournalEntry> inOneRow(std::vector<JournalEntry> source, std::vector<JournalEntry> here)
{
    std::vector<JournalEntry> row;
    auto next = here.begin();
    for (JournalEntry& entry : source) {
        for (; next != here.end() && next->tUs < entry.tUs; ++next)
            row.push_back(std::move(*next));
        row.push_back(std::move(entry));
    }
    row.insert(row.end(), std::make_move_iterator(next), std::make_move_iterator(here.end()));
    return row;
}

std::string shadowOf(const std::string& shadowFolder, const ObjectStore& source)
{
    const std::string uri = source.uri();
    return fmt::format("{}/{}", shadowFolder, toHex(xxh3(asBytes(uri))));
}

/// Null: there is none.
Result<std::unique_ptr<ObjectStore>> existingShadow(const std::string& shadowFolder, const ObjectStore& source)
{
    std::error_code failed;
    if (shadowFolder.empty() || !std::filesystem::exists(shadowOf(shadowFolder, source), failed))
        return std::unique_ptr<ObjectStore>();
    return openLocalStore(shadowOf(shadowFolder, source));
}

/// What appends an entry to a journal. Both live until it is called.
std::function<Result<std::uint64_t>(ObjectStore&)> putEntry(const JournalEntry& entry, TaskContext& task)
{
    return [&](ObjectStore& store) {
        return Series(store, std::string(beside::Journal))
            .append([&](std::uint64_t) { return entryToText(entry); }, task);
    };
}

/// Whether the error means that this source is only read, so that what is to be kept goes into the shadow.
bool meansReadOnly(Code code) { return code == Code::Auth || code == Code::Unsupported || code == Code::Internal; }

} // namespace

Beside::Beside(std::shared_ptr<ObjectStore> source, Options options)
    : m_source(std::move(source))
    , m_options(std::move(options))
{
}

Result<std::shared_ptr<ObjectStore>> Beside::shadow() const
{
    if (m_options.shadowFolder.empty())
        return std::shared_ptr<ObjectStore>();
    const std::string folder = shadowOf(m_options.shadowFolder, *m_source);
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        return fail(Code::Io, failed.message(), folder);
    DS_TRY(std::unique_ptr<ObjectStore> store, openLocalStore(folder));
    return std::shared_ptr<ObjectStore>(std::move(store));
}

Result<void> checkNoteText(std::string_view text)
{
    if (!text.empty() && text.size() <= MostTextBytes)
        return {};
    return fail(Code::Usage, text.empty() ? "a note needs a text" : "a note has at most 4 KiB");
}

Result<Annotations> readAnnotations(const ObjectStore& source, const std::vector<ObjectInfo>& listing,
                                    const std::string& shadowFolder, TaskContext& task)
{
    Annotations annotations;
    DS_CHECK(addAnnotations(source, listing, false, annotations, task));
    DS_TRY(const std::unique_ptr<ObjectStore> local, existingShadow(shadowFolder, source));
    if (local) {
        DS_TRY(const std::vector<ObjectInfo> kept, listAll(*local, beside::Root, task));
        Annotations here;
        DS_CHECK(addAnnotations(*local, kept, true, here, task));
        // A name that the source has, too, is the source's: everybody sees that one.
        const auto covered = std::stable_partition(here.refs.begin(), here.refs.end(), [&](const Ref& ref) {
            return annotations.find(ref.word()) == nullptr;
        });
        annotations.formerRefs.insert(annotations.formerRefs.end(), covered, here.refs.end());
        annotations.formerRefs.insert(annotations.formerRefs.end(), here.formerRefs.begin(), here.formerRefs.end());
        annotations.refs.insert(annotations.refs.end(), here.refs.begin(), covered);
        annotations.notes.insert(annotations.notes.end(), here.notes.begin(), here.notes.end());
        annotations.problems.insert(annotations.problems.end(), here.problems.begin(), here.problems.end());
    }
    std::sort(annotations.refs.begin(), annotations.refs.end(),
              [](const Ref& a, const Ref& b) { return std::tie(a.kind, a.name) < std::tie(b.kind, b.name); });
    return annotations;
}

Result<Beside::Written> Beside::write(const Put& put, TaskContext& task)
{
    DS_CHECK(task.going());
    Result<std::uint64_t> number = put(*m_source);
    if (!number && meansReadOnly(number.error().code))
        return writeHere(put, number.error());
    DS_CHECK(number);
    return Written { *number, false };
}

/// `why` the source was not written: the error where there is no shadow.
Result<Beside::Written> Beside::writeHere(const Put& put, const std::optional<Error>& why)
{
    DS_TRY(const std::shared_ptr<ObjectStore> local, shadow());
    if (!local)
        return fail(
            why.value_or(Error { Code::NotFound, "this machine has no folder for refs", m_source->uri(), {}, {} }));
    DS_TRY(const std::uint64_t number, put(*local));
    return Written { number, true };
}

Result<Ref> Beside::moveRef(RefKind kind, std::string_view name, const RefMoves& seen, std::optional<RefTarget> target,
                            std::string why, TaskContext& task)
{
    DS_CHECK(checkRefName(name));
    if (why.size() > MostTextBytes)
        return fail(Code::Usage, "the reason is longer than 4 KiB");
    Ref ref;
    ref.kind = kind;
    ref.name = name;
    ref.target = std::move(target);
    ref.by = m_options.by;
    ref.why = std::move(why);
    ref.tUs = m_options.nowUs();
    const auto putBehind = [&](const Ref& moved, std::uint64_t number) -> Put {
        return [&, number](ObjectStore& store) {
            Series series(store, folderOf(kind, name));
            return series.putBehind(
                number, [&](std::uint64_t) { return refToText(moved); }, task);
        };
    };
    const bool standsHere = seen.stands == RefMoves::Stands::Here;
    if (standsHere && !ref.target) {
        DS_TRY(const Written done, writeHere(putBehind(ref, seen.here)));
        ref.number = done.number;
        ref.isLocal = true;
        return ref;
    }
    DS_CHECK(task.going());
    const Result<std::uint64_t> inSource = putBehind(ref, seen.inSource)(*m_source);
    // Everybody sees a ref of the source, and a shadow of it would be another one of the same name.
    if (!inSource && (seen.stands == RefMoves::Stands::InSource || !meansReadOnly(inSource.error().code)))
        return fail(inSource.error());
    if (!inSource) {
        DS_TRY(const Written done, writeHere(putBehind(ref, seen.here), inSource.error()));
        ref.number = done.number;
        ref.isLocal = true;
        return ref;
    }
    ref.number = *inSource;
    if (standsHere) {
        Ref removed = ref;
        removed.target.reset();
        DS_CHECK(writeHere(putBehind(removed, seen.here)));
    }
    return ref;
}

Result<Note> Beside::addNote(const RefTarget& target, std::string text, TaskContext& task)
{
    DS_CHECK(checkNoteText(text));
    Note note { 0, target, std::move(text), m_options.by, m_options.nowUs() };
    const Put put = [&](ObjectStore& store) {
        return Series(store, std::string(beside::Notes)).append([&](std::uint64_t) { return noteToText(note); }, task);
    };
    DS_TRY(const Written done, write(put, task));
    note.number = done.number;
    note.isLocal = done.isLocal;
    return note;
}

JournalEntry Beside::signedEntry(JournalEntry entry) const
{
    entry.by = m_options.by;
    entry.tUs = m_options.nowUs();
    return entry;
}

Result<JournalEntry> Beside::append(JournalEntry entry, TaskContext& task)
{
    entry = signedEntry(std::move(entry));
    DS_TRY(const Written done, write(putEntry(entry, task), task));
    entry.number = done.number;
    entry.isLocal = done.isLocal;
    return entry;
}

Result<JournalEntry> Beside::appendHere(JournalEntry entry, TaskContext& task)
{
    entry = signedEntry(std::move(entry));
    DS_TRY(const Written done, writeHere(putEntry(entry, task)));
    entry.number = done.number;
    entry.isLocal = true;
    return entry;
}

Result<std::vector<JournalEntry>> readJournal(const ObjectStore& source, const std::string& shadowFolder,
                                              TaskContext& task)
{
    std::vector<JournalEntry> entries;
    DS_CHECK(addEntries(source, false, entries, task));
    DS_TRY(const std::unique_ptr<ObjectStore> local, existingShadow(shadowFolder, source));
    if (!local)
        return entries;
    std::vector<JournalEntry> here;
    DS_CHECK(addEntries(*local, true, here, task));
    return inOneRow(std::move(entries), std::move(here));
}

} // namespace deltascope
