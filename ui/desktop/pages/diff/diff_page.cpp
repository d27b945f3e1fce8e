#include "pages/diff/diff_page.h"

#include "look/format.h"
#include "look/look.h"
#include "look/marks.h"
#include "pages/diff/diff_choice.h"
#include "pages/diff/diff_offer.h"
#include "pages/diff/diff_result.h"
#include "pages/diff/diff_tensors.h"
#include "widgets/cards.h"
#include "widgets/filter_field.h"
#include "widgets/segments.h"

#include <QApplication>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QSaveFile>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

/// Nothing, or what went wrong.
QString writeFile(const QString& path, const QByteArray& content)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) < 0 || !file.commit())
        return file.errorString();
    return {};
}

QString noteOf(const app::StepView* step, const QString& letter)
{
    if (!step)
        return DiffPage::tr("%1, not there").arg(letter);
    return QStringLiteral("%1, %2").arg(letter, kindText(step->kind));
}

}

DiffPage::DiffPage(PageContext& context, QWidget* parent)
    : Page(context, parent)
    , m_task(new DiffTask(context.bridge, this))
    , m_header(makeHeader())
    , m_parts(new QStackedWidget)
    , m_choice(new DiffChoice(context))
    , m_offer(new DiffOffer(*m_task))
    , m_result(new DiffResult(context))
    , m_message(makeMessage())
{
    for (QWidget* part : { static_cast<QWidget*>(m_choice), static_cast<QWidget*>(m_offer),
                           static_cast<QWidget*>(m_result), m_message })
        m_parts->addWidget(part);
    auto* content = new QWidget;
    auto* all = new QVBoxLayout(content);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addWidget(m_header);
    all->addWidget(makeLine());
    all->addWidget(m_parts, 1);
    setContent(content);
    connect(m_task, &DiffTask::changed, this, &DiffPage::refreshLater);
    connect(m_offer, &DiffOffer::startWanted, this, [this] {
        this->context().cursor.setFollow(false); // B would run away from the result
        m_task->start();
    });
}

QWidget* DiffPage::makeHeader()
{
    m_a = makeLabel({}, "number");
    m_aNote = makeLabel({}, "muted");
    m_b = makeLabel({}, "number");
    m_bNote = makeLabel({}, "muted");
    m_swap = makeButton(tr("Swap"), QStringLiteral("swap"), "small");
    connect(m_swap, &QPushButton::clicked, this, [this] { context().cursor.swap(); });
    m_mode = new Segments(tr("What is compared"), { tr("Touched"), tr("Different") });
    m_mode->setToolTip(tr("Touched: what the deltas between A and B touch, from counts alone.\n"
                          "Different: the bits of all elements at A and at B."));
    connect(m_mode, &Segments::chosenByUser, this, [this](int mode) { setMode(static_cast<Mode>(mode)); });
    m_status = makeLabel({}, "muted");
    m_export = makeButton(tr("Export…"), {}, "small");
    makeExports();
    auto* header = new QWidget;
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(16, 8, 16, 8);
    row->setSpacing(8);
    row->addWidget(m_a);
    row->addWidget(m_aNote);
    row->addWidget(m_swap);
    row->addWidget(m_b);
    row->addWidget(m_bNote);
    row->addSpacing(16);
    row->addWidget(m_mode);
    row->addStretch(1);
    row->addWidget(m_status);
    row->addWidget(m_export);
    return header;
}

void DiffPage::makeExports()
{
    auto* menu = new QMenu(m_export);
    menu->addAction(tr("CSV table…"), this, [this] { askForFile(QStringLiteral("csv"), &DiffReport::csv); });
    menu->addAction(tr("JSON lines…"), this, [this] { askForFile(QStringLiteral("jsonl"), &DiffReport::jsonLines); });
    menu->addAction(tr("Markdown summary…"), this, [this] { askForFile(QStringLiteral("md"), &DiffReport::markdown); });
    m_export->setMenu(menu);
}

QWidget* DiffPage::makeMessage()
{
    auto* message = new QWidget;
    m_messageTitle = makeLabel({}, "number");
    m_messageTitle->setWordWrap(true);
    m_messageTitle->setAlignment(Qt::AlignHCenter);
    m_messageText = makeLabel({}, "muted");
    m_messageText->setWordWrap(true);
    m_messageText->setAlignment(Qt::AlignHCenter);
    m_exact = makeButton(tr("Compare them exactly"), {}, "primary");
    connect(m_exact, &QPushButton::clicked, this, [this] { setMode(Different); });
    auto* all = new QVBoxLayout(message);
    all->setContentsMargins(48, 0, 48, 0);
    all->setSpacing(12);
    all->addStretch(2);
    all->addWidget(m_messageTitle);
    all->addWidget(m_messageText);
    all->addWidget(m_exact, 0, Qt::AlignHCenter);
    all->addStretch(3);
    return message;
}

QLineEdit* DiffPage::filterField() { return shown() == m_result ? &m_result->tensors().filter() : nullptr; }

QAbstractItemView* DiffPage::mainList() { return shown() == m_result ? &m_result->tensors().table() : nullptr; }

QWidget* DiffPage::shown() const { return m_parts->currentWidget(); }

QString DiffPage::exportName() const
{
    const auto made = report();
    return made ? made->file + QStringLiteral(".csv") : QString();
}

QByteArray DiffPage::exportText()
{
    const auto made = report();
    return made ? made->csv() : QByteArray();
}

void DiffPage::setMode(Mode mode)
{
    m_mode->choose(mode);
    refreshLater();
}

void DiffPage::runOpened()
{
    m_touchedPair.reset();
    m_touchedRun.reset();
    m_touched = {};
    m_task->setPair(std::nullopt);
}

std::optional<DiffPair> DiffPage::wantedPair() const
{
    const StepCursor& cursor = context().cursor;
    if (!cursor.a() || !cursor.b())
        return std::nullopt;
    return DiffPair { context().focus.id(), *cursor.a(), *cursor.b() };
}

void DiffPage::refresh()
{
    m_sentence.clear();
    const std::optional<DiffPair> pair = wantedPair();
    showHeader();
    if (!pair) {
        m_choice->refresh();
        m_parts->setCurrentWidget(m_choice);
        return;
    }
    if (pair->a == pair->b)
        say(tr("A and B are the same step"), tr("Choose another A in the bar above."));
    else if (m_mode->chosen() == Touched)
        showTouched();
    else
        showDifferent();
    m_export->setEnabled(report().has_value());
}

void DiffPage::showHeader()
{
    const std::optional<DiffPair> pair = wantedPair();
    m_header->setVisible(pair.has_value());
    if (!pair)
        return;
    const bool epochs = pair->a.epoch != pair->b.epoch;
    m_a->setText(epochs ? pair->a.address() : QString::number(pair->a.step));
    m_b->setText(epochs ? pair->b.address() : QString::number(pair->b.step));
    m_aNote->setText(noteOf(context().focus.a(), QStringLiteral("A")));
    m_bNote->setText(noteOf(context().focus.b(), QStringLiteral("B")));
    m_status->clear();
}

void DiffPage::showTouched()
{
    const DiffPair pair = *wantedPair();
    const bool other = m_touchedPair != pair;
    const bool later = m_touched.problem && m_touchedRun != run(); // what was missing may be there now
    if (other || later) {
        const app::StepView* a = context().focus.a();
        const app::StepView* b = context().focus.b();
        if (!a || !b)
            return say(tr("Step %1 is not there").arg(a ? pair.b.step : pair.a.step), tr("Choose another one."));
        m_touchedPair = pair;
        m_touchedRun = run();
        if (other)
            m_touched = {};
        m_calculation.start(
            [service = &context().bridge.service(), snapshot = run(), from = *a, to = *b] {
                auto view = app::makeTouchedView(*service, *snapshot, from, to);
                TouchedAnswer answer;
                if (view)
                    answer.view = std::make_shared<const app::TouchedView>(std::move(*view));
                else
                    answer.problem = app::problemView(view.error());
                return answer;
            },
            [this, pair](TouchedAnswer answer) {
                if (m_touchedPair != pair)
                    return;
                m_touched = std::move(answer);
                refreshLater();
            });
    }
    if (m_touched.problem)
        return say(tr("What was touched cannot be told from counts"),
                   QStringLiteral("%1 %2").arg(safeName(m_touched.problem->code), safeName(m_touched.problem->text)),
                   true);
    if (!m_touched.view) {
        if (shown() != m_result)
            say(tr("Adding up…"), {});
        return;
    }
    if (m_touched.view->tensors.empty())
        return say(tr("The deltas between A and B touch nothing"), tr("“Different” compares the bits."), true);
    m_result->show(pair, m_touched.view);
    showResult();
}

void DiffPage::showDifferent()
{
    m_task->setPair(wantedPair());
    const DiffPointer diff = m_task->result();
    if (!diff) {
        m_parts->setCurrentWidget(m_offer);
        return;
    }
    const QString speed = tr("%1 compared in %2").arg(bytesText(diff->bytesCompared), durationText(diff->seconds));
    if (diff->equal)
        return say((diff->adapters.empty() ? tr("A and B are bit-identical (%1)")
                                           : tr("The tensors of A and B are bit-identical (%1)"))
                       .arg(speed),
                   (QStringList { tr("%1, %2 elements. Not a bit differs.")
                                      .arg(pluralText(diff->tensorsTotal, tr("tensor"), tr("tensors")),
                                           exactText(diff->elementsTotal)) }
                    + (diff->adapters.empty() ? QStringList() : QStringList { safeName(diff->adapters) })
                    + readsLines(diff->reads))
                       .join(QLatin1Char('\n')));
    const std::string backend = context().bridge.service().backend().value_or(std::string());
    m_status->setText(backend.empty() ? speed : tr("%1, %2").arg(speed, backendText(backend)));
    m_result->show(*wantedPair(), diff);
    showResult();
}

void DiffPage::showResult()
{
    if (shown() == m_result)
        return;
    const QWidget* focused = QApplication::focusWidget();
    const bool takesFocus = isVisible() && (!focused || m_parts->isAncestorOf(focused));
    m_parts->setCurrentWidget(m_result);
    if (takesFocus)
        m_result->tensors().table().setFocus(Qt::OtherFocusReason);
}

void DiffPage::say(const QString& title, const QString& text, bool offersExact)
{
    m_sentence = title;
    m_messageTitle->setText(title);
    m_messageText->setText(text);
    m_exact->setVisible(offersExact);
    m_parts->setCurrentWidget(m_message);
}

std::optional<DiffReport> DiffPage::report() const
{
    const std::optional<DiffPair> pair = wantedPair();
    if (!pair)
        return std::nullopt;
    if (m_mode->chosen() == Touched) {
        return m_touched.view && m_touchedPair == pair ? std::optional(makeReport(*m_touched.view, pair->run))
                                                       : std::nullopt;
    }
    return m_task->result() && m_task->pair() == pair
        ? std::optional(makeReport(*m_task->result(), pair->run, m_a->text(), m_b->text()))
        : std::nullopt;
}

void DiffPage::askForFile(const QString& type, QByteArray (DiffReport::*write)() const)
{
    const std::optional<DiffReport> made = report();
    if (!made)
        return;
    auto* dialog = new QFileDialog(this, tr("Export the comparison"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(type);
    dialog->selectFile(QStringLiteral("%1.%2").arg(made->file, type));
    connect(dialog, &QFileDialog::fileSelected, this, [this, report = *made, write](const QString& path) {
        m_saving.start([report, write, path] { return writeFile(path, (report.*write)()); },
                       [this, path](const QString& wrong) {
                           m_status->setText(wrong.isEmpty() ? tr("Saved %1").arg(path)
                                                             : tr("✕ %1 was not saved: %2").arg(path, wrong));
                       });
    });
    dialog->open();
}

} // namespace deltascope::desktop
