#include "look/marks.h"

#include "look/format.h"

#include <QCoreApplication>

#include <array>

namespace deltascope::desktop {

namespace {

struct Word {
    const char* key;
    const char* text;
};

template <std::size_t N> QString find(const std::array<Word, N>& words, const std::string& key)
{
    for (const Word& word : words) {
        if (key == word.key)
            return QCoreApplication::translate("Marks", word.text);
    }
    return safeName(key);
}

}

QString stepStateText(const std::string& state)
{
    static constexpr std::array<Word, 6> Words { { { "complete", "● complete" },
                                                   { "publishing", "◐ publishing" },
                                                   { "gap", "○ gap" },
                                                   { "broken", "✕ broken" },
                                                   { "noop", "– no change" },
                                                   { "phantom", "? phantom" } } };
    return find(Words, state);
}

QString kindText(const std::string& kind)
{
    static constexpr std::array<Word, 3> Words {
        { { "anchor", "anchor" }, { "partial_anchor", "partial anchor" }, { "delta", "delta" } }
    };
    return find(Words, kind);
}

QString problemLine(const app::ProblemView& problem)
{
    return (app::isNotice(problem) ? QString() : QStringLiteral("✕ "))
        + QStringLiteral("%1 %2").arg(QString::fromStdString(problem.code), safeName(problem.text));
}

QStringList readsLines(const app::ReadsView& reads)
{
    QStringList lines;
    for (const std::string& key : reads.rewritten)
        lines << QCoreApplication::translate("Marks", "⚑ rewritten and used: %1").arg(shortened(safeName(key)));
    for (const app::ProblemView& notice : reads.notices)
        lines << problemLine(notice);
    return lines;
}

QString levelText(int level)
{
    static constexpr std::array<const char*, 5> Names { "listed", "header", "payload", "replay", "cross-anchor" };
    const auto at = static_cast<std::size_t>(level);
    return at < Names.size() ? QStringLiteral("%1 %2").arg(level).arg(QCoreApplication::translate("Marks", Names[at]))
                             : QString::number(level);
}

QString verdictText(const std::string& result, const app::ProblemView* against)
{
    if (result == "unverified" && against)
        return QCoreApplication::translate("Marks", "%1 speaks against it").arg(safeName(against->code));
    static constexpr std::array<Word, 6> Words { { { "verified", "verified as published" },
                                                   { "consistent", "consistent" },
                                                   { "first_sight", "as first read, which may be just now" },
                                                   { "unverified", "nothing vouches for it" },
                                                   { "incomplete", "incomplete" },
                                                   { "damaged", "✕ damaged" } } };
    return find(Words, result);
}

QString verdictText(const app::VerifiedView& verified)
{
    return verdictText(verified.result, verified.problem ? &*verified.problem : nullptr);
}

QString evidenceText(const std::string& result)
{
    static constexpr std::array<Word, 6> Words { { { "verified", "verified" },
                                                   { "consistent", "consistent" },
                                                   { "first_sight", "first sight" },
                                                   { "unverified", "none" },
                                                   { "incomplete", "incomplete" },
                                                   { "damaged", "✕ damaged" } } };
    return find(Words, result);
}

bool isSound(const std::string& result)
{
    return result == "verified" || result == "consistent" || result == "first_sight";
}

} // namespace deltascope::desktop
