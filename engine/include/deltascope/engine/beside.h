#pragma once

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What people and acts leave beside a run: refs, pins, notes and a journal (docs/formats/ds-facts.md 2).

namespace deltascope {

/// Which version is meant. The step is what people call it; the rest tells another version of the same number from it.
struct RefTarget {
    std::int64_t step = 0;
    int epoch = 0; ///< its number when the target was written; may count differently since
    std::string root; ///< fast DSM1 root that its publisher recorded; empty: none is recorded
    std::string objects; ///< lower-case hex: XXH3-128 over keys and sizes of its own objects

    bool operator==(const RefTarget&) const = default;
};

enum class RefKind : std::uint8_t {
    Ref, ///< a word for a version, wherever an address is accepted: SOURCE@good
    Pin, ///< a ref that says: keep this version. SOURCE@pin/good
};

/// Where a name stood last.
struct Ref {
    RefKind kind = RefKind::Ref;
    std::string name;
    std::uint64_t number = 0; ///< of its moves, from 1 on
    std::optional<RefTarget> target; ///< nothing: it was removed
    std::string by; ///< who moved it
    std::string why;
    std::int64_t tUs = 0; ///< microseconds since 1970, by the clock of who moved it
    bool isLocal = false; ///< kept on this machine, because the source cannot be written
    std::optional<Error> failure; ///< the newest move cannot be read: what the name stands for is not known

    std::string word() const { return kind == RefKind::Pin ? "pin/" + name : name; } ///< as behind the @
    bool operator==(const Ref&) const = default;
};

struct Note {
    std::uint64_t number = 0;
    RefTarget target;
    std::string text;
    std::string by;
    std::int64_t tUs = 0;
    bool isLocal = false;

    bool operator==(const Note&) const = default;
};

/// A thing that was done to the run, or a part of it.
struct JournalEntry {
    std::uint64_t number = 0;
    std::string act; ///< "ref", "pin", "note", "rollback"
    std::string phase; ///< "begun", "done", "failed"
    std::string by;
    std::string plan; ///< hash of the plan; empty where there was none
    std::string text; ///< what was done, as a sentence
    std::vector<std::string> keys; ///< of the objects that were written or removed
    std::int64_t tUs = 0;
    bool isLocal = false;

    bool operator==(const JournalEntry&) const = default;
};

/// How often a name was moved, and where it stands: what a caller knows who moves it.
struct RefMoves {
    enum class Stands : std::uint8_t { Nowhere, InSource, Here };
    std::uint64_t inSource = 0; ///< number of its newest move beside the run, of its removal too; 0: there is none
    std::uint64_t here = 0; ///< the same on this machine
    Stands stands = Stands::Nowhere;
};

/// All that people have said of the versions of a run.
struct Annotations {
    std::vector<Ref> refs; ///< and pins, by kind and name; without removed ones
    std::vector<Ref> formerRefs; ///< removed, or kept on this machine under a name that the source has, too
    std::vector<Note> notes; ///< in the order of their numbers
    std::vector<Error> problems; ///< objects that are not what they should be

    const Ref* find(std::string_view word) const noexcept; ///< by Ref::word(); null: there is none
    RefMoves movesOf(RefKind kind, std::string_view name) const noexcept;
};

/// Whether a ref or pin may have the name: 1 to 64 of letters, digits, '.', '_' and '-', not only digits, no dot in
/// front, and no word that addresses know (latest, anchor, latest~1). Errors: Usage.
Result<void> checkRefName(std::string_view name);

/// Whether a note may have the text: 1 byte to 4 KiB. Errors: Usage.
Result<void> checkNoteText(std::string_view text);

/// `listing`: of the source, in any order; other objects than ours are ignored. `shadowFolder`: as in Beside::Options.
/// Errors: those of the stores.
Result<Annotations> readAnnotations(const ObjectStore& source, const std::vector<ObjectInfo>& listing,
                                    const std::string& shadowFolder, TaskContext& task);
/// In the order of their numbers; those of this machine stand between those of the source by their time. An entry that
/// cannot be read has the phase "unreadable". Errors: those of the stores.
Result<std::vector<JournalEntry>> readJournal(const ObjectStore& source, const std::string& shadowFolder,
                                              TaskContext& task);

/// Writes beside a run. A source that cannot be written has a shadow: a folder of this machine, which only this machine
/// sees. Any thread.
class Beside {
public:
    struct Options {
        std::string by; ///< who acts: "kim@host"
        std::string shadowFolder; ///< for all sources together; is made when it is needed. Empty: no shadow
        std::function<std::int64_t()> nowUs; ///< microseconds since 1970
    };
    Beside(std::shared_ptr<ObjectStore> source, Options options);

    /// Moves, makes, or (`target` is nothing) removes a ref. `seen`: what the caller knew of it when he decided. One
    /// that is kept on this machine moves into the source as soon as that can be written. Errors: Exists (it was moved
    /// since, or another writer moved it at the same time: nothing has changed), Usage (see checkRefName), those of the
    /// store.
    Result<Ref> moveRef(RefKind kind, std::string_view name, const RefMoves& seen, std::optional<RefTarget> target,
                        std::string why, TaskContext& task);
    /// Errors: Usage (see checkNoteText), those of the store.
    Result<Note> addNote(const RefTarget& target, std::string text, TaskContext& task);
    /// `entry`: number, by and time are filled in. Errors: those of the store.
    Result<JournalEntry> append(JournalEntry entry, TaskContext& task);
    /// Appends to the journal of this machine, which nobody else reads: for what is kept on it.
    Result<JournalEntry> appendHere(JournalEntry entry, TaskContext& task);

private:
    using Put = std::function<Result<std::uint64_t>(ObjectStore& store)>;
    struct Written {
        std::uint64_t number = 0;
        bool isLocal = false;
    };
    Result<Written> write(const Put& put, TaskContext& task);
    Result<Written> writeHere(const Put& put, const std::optional<Error>& why = {});
    JournalEntry signedEntry(JournalEntry entry) const;
    Result<std::shared_ptr<ObjectStore>> shadow() const; ///< null: there is no folder for it

    std::shared_ptr<ObjectStore> m_source;
    Options m_options;
};

} // namespace deltascope
