#include "pages/journal/journal_rows.h"

#include "acts/act_words.h"
#include "look/format.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>

namespace deltascope::desktop {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Journal)
};

constexpr int HashShown = 12; ///< characters

/// A row as a filter asks about it: plain words, anywhere in it.
struct FilteredText {
    const TextRow& row;

    static std::optional<double> number(std::size_t) { return std::nullopt; }
    static bool hasWord(std::size_t, const Query::WordTest&) { return false; }
    bool contains(const QString& text) const { return row.cells.join(QLatin1Char(' ')).toLower().contains(text); }
};

std::vector<TextRow> kept(std::vector<TextRow> rows, const Query& query)
{
    std::erase_if(rows, [&](const TextRow& row) { return !query.matches(FilteredText { row }); });
    return rows;
}

QString byText(const std::string& by, bool isLocal)
{
    return isLocal ? Words::tr("%1, on this machine alone").arg(safeName(by)) : safeName(by);
}

}

std::vector<TextColumn> journalColumns()
{
    return { { Words::tr("when") },
             { Words::tr("who") },
             { Words::tr("act") },
             { Words::tr("phase") },
             { Words::tr("what"), false, true },
             { Words::tr("plan") } };
}

std::vector<TextRow> journalRows(const app::AnnotationsView& said, const Query& query, std::int64_t nowUs)
{
    std::map<std::string, QString, std::less<>> titles; // of acts
    for (const app::ActInfo& act : app::actInfos())
        titles.emplace(act.kind, actWords(act.title));
    std::vector<TextRow> rows;
    for (auto entry = said.journal.rbegin(); entry != said.journal.rend(); ++entry) {
        const auto title = titles.find(entry->act);
        TextRow row;
        row.cells = { clockText(entry->tUs, nowUs),
                      byText(entry->by, entry->isLocal),
                      title == titles.end() ? safeName(entry->act) : title->second,
                      safeName(entry->phase),
                      safeName(entry->text),
                      safeName(entry->plan).left(HashShown) };
        row.tip = fullTimeText(entry->tUs) + QLatin1Char('\n') + safeName(entry->text);
        for (const std::string& key : entry->keys)
            row.tip += QLatin1Char('\n') + safeName(key);
        if (!entry->plan.empty())
            row.tip += QLatin1Char('\n') + Words::tr("plan %1").arg(safeName(entry->plan));
        row.bad = entry->phase == "failed" || entry->phase == "unreadable";
        row.subject = QVariant::fromValue(static_cast<qulonglong>(entry->number));
        rows.push_back(std::move(row));
    }
    return kept(std::move(rows), query);
}

std::vector<TextColumn> wordColumns()
{
    return { { Words::tr("word") },
             { Words::tr("step"), true },
             { Words::tr("why"), false, true },
             { Words::tr("who") },
             { Words::tr("when") } };
}

std::vector<TextRow> wordRows(const app::AnnotationsView& said, const Query& query, std::int64_t nowUs)
{
    std::vector<TextRow> rows;
    for (const app::RefView& ref : said.refs) {
        const QString why = ref.problem ? safeName(ref.problem->text)
            : ref.step && !ref.isHere   ? Words::tr("this step is not in the run any more")
                                        : safeName(ref.why);
        TextRow row;
        row.cells = { safeName(ref.word), ref.step ? QString::number(*ref.step) : unknownText(), why,
                      byText(ref.by, ref.isLocal), clockText(ref.tUs, nowUs) };
        row.tip = QStringLiteral("%1\n%2").arg(fullTimeText(ref.tUs), why).trimmed();
        row.bad = ref.problem || !ref.isHere;
        row.subject = QString::fromStdString(ref.word);
        rows.push_back(std::move(row));
    }
    return kept(std::move(rows), query);
}

std::vector<TextColumn> noteColumns()
{
    return {
        { Words::tr("step"), true }, { Words::tr("note"), false, true }, { Words::tr("who") }, { Words::tr("when") }
    };
}

std::vector<TextRow> noteRows(const app::AnnotationsView& said, const Query& query, std::int64_t nowUs)
{
    std::vector<TextRow> rows;
    for (auto note = said.notes.rbegin(); note != said.notes.rend(); ++note) {
        TextRow row;
        row.cells = { QString::number(note->step), safeName(note->text), byText(note->by, note->isLocal),
                      clockText(note->tUs, nowUs) };
        row.tip = fullTimeText(note->tUs) + QLatin1Char('\n') + safeText(note->text);
        row.subject = QVariant::fromValue(static_cast<qulonglong>(note->number));
        rows.push_back(std::move(row));
    }
    return kept(std::move(rows), query);
}

} // namespace deltascope::desktop
