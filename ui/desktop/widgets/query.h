#pragma once

#include <QString>

#include <optional>
#include <vector>

namespace deltascope::desktop {

/// A field that a filter may name.
struct QueryField {
    QString name; ///< "step"
    bool number = false; ///< compared as a number: >1200, 1100..1200, 10M
};

/// A typed filter: `kind:anchor step:>1200 size:>10M text`, all terms of which have to hold. Immutable; any thread.
class Query {
public:
    Query() = default;
    /// A text that cannot be understood lets everything pass and says why in error().
    static Query parse(const QString& text, const std::vector<QueryField>& fields);

    const QString& error() const { return m_error; } ///< empty: understood
    bool isEmpty() const { return m_terms.empty(); } ///< everything passes

    /// `Row` answers for one row: std::optional<double> number(std::size_t field), bool hasWord(std::size_t field,
    /// const WordTest&) and bool contains(const QString& text), the latter in lower case.
    template <class Row> bool matches(const Row& row) const
    {
        for (const Term& term : m_terms) {
            if (!holds(term, row))
                return false;
        }
        return true;
    }

    /// What a word of a field has to be; in lower case.
    struct WordTest {
        QString wanted; ///< "*": any; "~part": contains it

        bool operator()(const QString& word) const;
    };

private:
    enum class Kind { Text, Word, Number };
    struct Term {
        Kind kind = Kind::Text;
        std::size_t field = 0;
        WordTest word; ///< of text too
        double low = 0, high = 0; ///< both included
        bool lowOpen = false, highOpen = false;
    };
    static bool parseNumber(const QString& text, Term& term);
    bool readTerm(const QString& text, const std::vector<QueryField>& fields);

    template <class Row> static bool holds(const Term& term, const Row& row)
    {
        if (term.kind == Kind::Text)
            return row.contains(term.word.wanted);
        if (term.kind == Kind::Word)
            return row.hasWord(term.field, term.word);
        const std::optional<double> value = row.number(term.field);
        return value && (term.lowOpen ? *value > term.low : *value >= term.low)
            && (term.highOpen ? *value < term.high : *value <= term.high);
    }

    std::vector<Term> m_terms;
    QString m_error;
};

} // namespace deltascope::desktop
