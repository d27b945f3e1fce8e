#pragma once

#include "deltascope/app/view/act_view.h"
#include "deltascope/app/view/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

/// A word that people gave a version.
struct RefView {
    std::string word; ///< as behind the @ of an address: "good", "pin/good"
    bool isPin = false;
    std::optional<std::int64_t> step; ///< that it names; nothing if its last move cannot be read
    int epoch = 0; ///< of the version that it means now; else as it was written
    bool isHere = false; ///< that version is in the run
    std::string by; ///< who moved it last
    std::string why;
    std::int64_t tUs = 0;
    bool isLocal = false; ///< kept on this machine alone, because the source cannot be written
    std::optional<ProblemView> problem; ///< why it names no version

    bool operator==(const RefView&) const = default;
};

/// What people wrote about a version.
struct AnnotationView {
    std::uint64_t number = 0;
    std::int64_t step = 0;
    std::string text;
    std::string by;
    std::int64_t tUs = 0;
    bool isLocal = false;

    bool operator==(const AnnotationView&) const = default;
};

/// Something that was done to the run.
struct JournalEntryView {
    std::uint64_t number = 0;
    std::string act;
    std::string phase; ///< begun, done, failed, unreadable
    std::string by;
    std::string plan; ///< hash; empty: there was none
    std::string text;
    std::vector<std::string> keys;
    std::int64_t tUs = 0;
    bool isLocal = false;

    bool operator==(const JournalEntryView&) const = default;
};

struct AnnotationsView {
    std::string source;
    std::vector<RefView> refs;
    std::vector<AnnotationView> notes;
    std::vector<JournalEntryView> journal; ///< oldest first
    std::vector<ProblemView> problems;
};

/// A word or a note, planned or written.
struct AnnotatedView {
    std::string source;
    std::string run; ///< name of the run
    std::string text; ///< "good: step 12, was step 9"
    ActPlanView plan; ///< empty once it is written
    bool isDone = false; ///< written
    bool wasThere = false; ///< it was so already: nothing was written
    bool isLocal = false; ///< written on this machine, because the source cannot be written
};

} // namespace deltascope::app
