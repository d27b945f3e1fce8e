#include "pages/lineage/lineage_text.h"

#include "look/format.h"
#include "look/marks.h"

#include <QCoreApplication>

#include <algorithm>

namespace deltascope::desktop {

namespace {

using Column = LineageModel::Column;

QString translated(const char* text) { return QCoreApplication::translate("Lineage", text); }

/// "15.9 GB, 4 deltas", or what stands in the way.
QString restoreText(const app::LineageRowView& row)
{
    const app::StepView& step = *row.step;
    if (isHole(step))
        return translated("not possible: not published");
    if (isLost(row))
        return translated("not possible: overwritten");
    if (!step.restorable) {
        const std::optional<std::int64_t>& blocked = step.restore.blockedBy;
        return blocked && *blocked != step.step ? translated("not possible: step %1").arg(*blocked)
                                                : translated("not possible");
    }
    const QString bytes = bytesText(step.restore.bytes);
    return step.restore.deltas == 0
        ? bytes
        : translated("%1, %2").arg(bytes, pluralText(step.restore.deltas, translated("delta"), translated("deltas")));
}

/// "Way: delta on step 8, 1.2 MB, stands by".
QString wayText(const app::FormView& form)
{
    const QString what = form.baseStep ? translated("%1 on step %2").arg(kindText(form.kind)).arg(*form.baseStep)
                                       : translated("%1, complete").arg(kindText(form.kind));
    const QString use = !form.restore.reason.empty()
        ? translated("cannot be used: %1").arg(safeName(form.restore.reason))
        : form.isUsed    ? translated("this one is used")
        : form.isTrained ? translated("trained state")
                         : translated("stands by");
    return translated("Way: %1, %2, %3").arg(what, bytesText(form.wireBytes), use);
}

QString verifiedTip(const app::LineageRowView& row)
{
    if (!row.verified)
        return translated("not checked");
    return translated("%1, level %2\n%3")
        .arg(verdictText(*row.verified), levelText(row.verified->level), fullTimeText(row.verified->tUs));
}

QString differsText(const LineageRemark& remark)
{
    return remark.differs
        ? translated("\n%1 elements differ from the replay up to here").arg(exactText(*remark.differs))
        : QString();
}

QString verifiedWord(const LineagePicture& picture, std::size_t at)
{
    const app::LineageRowView& row = picture.rows()[at];
    if (isHole(*row.step) || !row.verified)
        return unknownText();
    QString text = QString::number(row.verified->level);
    if (const std::optional<std::uint64_t>& differs = picture.remark(at).differs)
        text += translated(", %1 differ").arg(countText(differs));
    else if (!isSound(row.verified->result))
        text += QLatin1Char(' ') + verdictText(*row.verified);
    return text;
}

QString rowText(const LineagePicture& picture, std::size_t at, Column column)
{
    const app::LineageRowView& row = picture.rows()[at];
    const app::StepView& step = *row.step;
    const bool hole = isHole(step);
    switch (column) {
    case LineageModel::Step:
        return stepText(row);
    case LineageModel::Kind:
        return isBroken(row)           ? QStringLiteral("✕ ") + kindText(step.kind)
            : step.state == "complete" ? kindText(step.kind)
                                       : stepStateText(step.state);
    case LineageModel::Age:
        return hole || step.publishedUs == 0
            ? unknownText()
            : ageText(static_cast<double>(ServiceBridge::nowUs() - step.publishedUs) / 1e6);
    case LineageModel::Changed:
        return percentText(step.changedFraction);
    case LineageModel::Bytes:
        return hole ? unknownText() : bytesText(step.wireBytes);
    case LineageModel::Verified:
        return verifiedWord(picture, at);
    case LineageModel::Refs: {
        QString text;
        for (const std::string& ref : row.refs)
            text += safeName(ref) + QLatin1Char(' ');
        if (!restoredText(row).isEmpty())
            text += restoredText(row) + QLatin1Char(' ');
        return (text + problemText(row) + remarkText(picture, at)).trimmed();
    }
    case LineageModel::Restore:
        return restoreText(row);
    default:
        return {};
    }
}

QString rowTip(const LineagePicture& picture, std::size_t at, Column column)
{
    const app::LineageRowView& row = picture.rows()[at];
    const app::StepView& step = *row.step;
    switch (column) {
    case LineageModel::Age:
        return isHole(step) ? QString() : fullTimeText(step.publishedUs);
    case LineageModel::Bytes:
        return isHole(step) ? QString() : translated("%1 bytes").arg(exactText(step.wireBytes));
    case LineageModel::Changed:
        if (!step.changedElements || !step.totalElements)
            return step.claimedElements
                ? translated("not counted yet; the header claims %1 elements").arg(exactText(*step.claimedElements))
                : QString();
        return translated("%1 of %2 elements")
            .arg(exactText(step.changedVsPrevious.value_or(*step.changedElements)), exactText(*step.totalElements));
    case LineageModel::Verified:
        return isHole(step) ? QString() : verifiedTip(row) + differsText(picture.remark(at));
    case LineageModel::Restore:
        return step.restorable ? translated("%1 bytes to read").arg(exactText(step.restore.bytes))
                               : safeName(step.restore.reason);
    case LineageModel::Refs: {
        QString text;
        for (const app::ProblemView& problem : step.problems)
            text += problemLine(problem) + QStringLiteral("\n%1\n").arg(safeName(problem.remedy));
        return (text + remarkText(picture, at)).trimmed();
    }
    default: {
        QString text = translated("Step %1, %2").arg(stepText(row), stepStateText(step.state));
        if (step.baseStep)
            text += translated(", builds on %1").arg(*step.baseStep);
        text += QLatin1Char('\n') + translated("To materialize: %1").arg(restoreText(row));
        for (const app::FormView& form : step.forms)
            text += QLatin1Char('\n') + wayText(form);
        return text;
    }
    }
}

QString csvWord(const QString& text)
{
    QString word = text;
    // A spreadsheet takes these for formulas.
    if (!word.isEmpty() && QStringLiteral("=+-@\t").contains(word.front()))
        word.prepend(QLatin1Char('\''));
    if (!word.contains(QLatin1Char(',')) && !word.contains(QLatin1Char('"')) && !word.contains(QLatin1Char('\n')))
        return word;
    word.replace(QLatin1Char('"'), QStringLiteral("\"\""));
    return QLatin1Char('"') + word + QLatin1Char('"');
}

}

QString stepText(const app::LineageRowView& row)
{
    QString text = QString::number(row.step->step);
    if (isHole(*row.step) && row.step->lastMissing > row.step->step)
        text += QStringLiteral(" – %1").arg(row.step->lastMissing);
    return isLost(row) ? text + QChar(u'′') : text;
}

QString foldedSteps(const LineagePicture& picture, const LineageChain& chain)
{
    return QStringLiteral("%1 – %2").arg(stepText(picture.rows()[chain.to - 1]), stepText(picture.rows()[chain.from]));
}

QString foldedWhat(const LineagePicture& picture, const LineageChain& chain)
{
    const app::LineageRowView& oldest = picture.rows()[chain.to - 1];
    QString text = isAnchor(*oldest.step) ? translated("chain of %1").arg(oldest.step->step)
        : isLost(oldest)                  ? translated("overwritten")
                                          : translated("chain without an anchor");
    if (oldest.lane > 0)
        text += translated(", epoch %1").arg(oldest.step->epoch);
    return translated("%1, %2").arg(text,
                                    pluralText(chain.to - chain.from, translated("version"), translated("versions")));
}

QString checkedText(const LineageChain& chain)
{
    const std::size_t count = chain.to - chain.from;
    if (chain.checked == 0)
        return translated("not checked");
    if (chain.checked < count)
        return translated("%1 of %2 checked").arg(exactText(chain.checked), exactText(count));
    QString text = translated("all level %1").arg(chain.leastLevel);
    if (chain.anchorLevel.value_or(chain.leastLevel) > chain.leastLevel)
        text += translated(", anchor level %1").arg(*chain.anchorLevel);
    return text;
}

QString alertsText(const LineagePicture& picture, const LineageChain& chain)
{
    QString text;
    for (std::size_t row = chain.from; row < chain.to; ++row) {
        const QString& alert = picture.remark(row).alert;
        if (alert.isEmpty())
            continue;
        if (!text.isEmpty())
            return text + QStringLiteral(" …");
        text = QStringLiteral("⚑ %1 %2").arg(stepText(picture.rows()[row]), alert.mid(2));
    }
    return text;
}

QString restartWhat(const LineagePicture& picture, const LineageItem& item)
{
    const app::StepView& first = *picture.rows()[item.row].step;
    return first.baseStep && !isAnchor(first) ? translated("Trainer restarted from step %1").arg(*first.baseStep)
                                              : translated("Trainer restarted");
}

QString restartWhen(const LineagePicture& picture, const LineageItem& item)
{
    const app::StepView& first = *picture.rows()[item.row].step;
    QString text = translated(", epoch %1 begins").arg(first.epoch);
    if (first.publishedUs > 0)
        text += translated(", %1").arg(clockText(first.publishedUs, ServiceBridge::nowUs()));
    return text;
}

QString restoredText(const app::LineageRowView& row)
{
    if (!row.step->role.empty())
        return row.step->role == "final_save" ? translated("final save") : translated("older than the checkpoints");
    if (!row.step->branchOf.empty())
        return translated("branch of %1").arg(safeName(row.step->branchOf));
    const std::optional<std::int64_t>& step = row.step->restores;
    return step ? translated("restores %1").arg(QString::number(static_cast<qlonglong>(*step))) : QString();
}

QString problemText(const app::LineageRowView& row)
{
    if (row.step->problems.empty())
        return row.step->state == "broken" && !row.step->restore.reason.empty()
            ? QStringLiteral("✕ ") + safeName(row.step->restore.reason)
            : QString();
    return problemLine(*app::gravest(row.step->problems));
}

QString remarkText(const LineagePicture& picture, std::size_t row)
{
    const LineageRemark& remark = picture.remark(row);
    QStringList parts;
    if (!remark.note.isEmpty())
        parts.append(remark.note);
    if (!remark.served.isEmpty())
        parts.append(translated("served by %1").arg(remark.served));
    if (!remark.alert.isEmpty())
        parts.append(remark.alert);
    if (isLost(picture.rows()[row]))
        parts.append(translated("overwritten by a later epoch"));
    const std::vector<app::LineageFormView>& forms = picture.rows()[row].forms;
    const auto usable = std::count_if(forms.begin(), forms.end(), [](const auto& form) { return form.isUsable; });
    if (usable > 1)
        parts.append(translated("%1 ways").arg(usable));
    return parts.join(QStringLiteral(" · "));
}

QString lineageText(const LineagePicture& picture, const LineageItem& item, Column column)
{
    if (item.kind == LineageItem::Kind::Row)
        return rowText(picture, item.row, column);
    if (item.kind == LineageItem::Kind::Restart)
        return column == LineageModel::Step ? restartWhat(picture, item) + restartWhen(picture, item) : QString();
    const LineageChain& chain = picture.chains()[item.chain];
    switch (column) {
    case LineageModel::Step:
        return foldedSteps(picture, chain);
    case LineageModel::Kind:
        return foldedWhat(picture, chain);
    case LineageModel::Bytes:
        return bytesText(chain.bytes);
    case LineageModel::Verified:
        return checkedText(chain);
    case LineageModel::Refs:
        return alertsText(picture, chain);
    default:
        return {};
    }
}

QString lineageTip(const LineagePicture& picture, const LineageItem& item, Column column)
{
    if (item.kind == LineageItem::Kind::Row)
        return rowTip(picture, item.row, column);
    if (item.kind == LineageItem::Kind::Restart)
        return fullTimeText(picture.rows()[item.row].step->publishedUs);
    return translated("%1: %2. Click to open.")
        .arg(foldedSteps(picture, picture.chains()[item.chain]), foldedWhat(picture, picture.chains()[item.chain]));
}

QString versionAddress(const LineagePicture& picture, std::size_t row)
{
    const StepId id = picture.idOf(row);
    return QString::fromStdString(picture.snapshot().source) + QLatin1Char('@') + id.address();
}

QByteArray lineageCsv(const LineagePicture& picture, const std::vector<std::size_t>& rows)
{
    QByteArray text = "epoch,step,last_missing,kind,state,base_step,published_at_us,wire_bytes,changed_frac,"
                      "verify_level,verify_result,restore_bytes,restore_deltas,refs,problem\n";
    for (const std::size_t at : rows) {
        const app::LineageRowView& row = picture.rows()[at];
        const app::StepView& step = *row.step;
        const bool hole = isHole(step);
        const app::ProblemView* const worst = app::gravest(step.problems);
        QString refs;
        for (const std::string& ref : row.refs)
            refs += (refs.isEmpty() ? QString() : QStringLiteral(" ")) + safeName(ref);
        const QByteArrayList words {
            QByteArray::number(step.epoch),
            QByteArray::number(static_cast<qlonglong>(step.step)),
            hole ? QByteArray::number(static_cast<qlonglong>(step.lastMissing)) : QByteArray(),
            QByteArray::fromStdString(step.kind),
            QByteArray::fromStdString(step.state),
            step.baseStep ? QByteArray::number(static_cast<qlonglong>(*step.baseStep)) : QByteArray(),
            hole ? QByteArray() : QByteArray::number(static_cast<qlonglong>(step.publishedUs)),
            hole ? QByteArray() : QByteArray::number(static_cast<qulonglong>(step.wireBytes)),
            step.changedFraction ? QByteArray::number(*step.changedFraction, 'g', 9) : QByteArray(),
            row.verified ? QByteArray::number(row.verified->level) : QByteArray(),
            row.verified ? QByteArray::fromStdString(row.verified->result) : QByteArray(),
            step.restorable ? QByteArray::number(static_cast<qulonglong>(step.restore.bytes)) : QByteArray(),
            step.restorable ? QByteArray::number(static_cast<qulonglong>(step.restore.deltas)) : QByteArray(),
            csvWord(refs).toUtf8(),
            worst ? csvWord(QString::fromStdString(worst->code)).toUtf8() : QByteArray(),
        };
        text += words.join(',') + '\n';
    }
    return text;
}

} // namespace deltascope::desktop
