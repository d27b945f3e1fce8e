#pragma once

#include "deltascope/app/view/annotations_view.h"
#include "widgets/query.h"
#include "widgets/text_table.h"

namespace deltascope::desktop {

// What people said and did, as rows of tables, those that pass a filter. TextRow::subject: see each. Pure.

std::vector<TextColumn> journalColumns();
/// Newest first. Subject: the number of the entry.
std::vector<TextRow> journalRows(const app::AnnotationsView& said, const Query& query, std::int64_t nowUs);

std::vector<TextColumn> wordColumns();
/// Subject: the word as in RefView.
std::vector<TextRow> wordRows(const app::AnnotationsView& said, const Query& query, std::int64_t nowUs);

std::vector<TextColumn> noteColumns();
/// Newest first. Subject: the number of the note.
std::vector<TextRow> noteRows(const app::AnnotationsView& said, const Query& query, std::int64_t nowUs);

} // namespace deltascope::desktop
