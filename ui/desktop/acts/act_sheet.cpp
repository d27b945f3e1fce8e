#include "acts/act_sheet.h"

#include "acts/act_words.h"
#include "look/format.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace deltascope::desktop {

namespace {

template <class T> std::optional<T> knownValue(const app::ActArgs& known, std::string_view name)
{
    const auto found = known.find(name);
    const T* value = found == known.end() ? nullptr : std::get_if<T>(&found->second);
    return value ? std::optional(*value) : std::nullopt;
}

}

ActSheet::ActSheet(ServiceBridge& bridge, const RunPointer& run, app::ActInfo act, const app::ActArgs& known,
                   QWidget* parent)
    : PlanSheet(bridge, QString::fromStdString(run->id), tr("%1: %2").arg(actWords(act.title), safeName(run->name)),
                actWords(act.title), parent)
    , m_act(std::move(act))
{
    auto* form = new QFormLayout;
    for (const app::ActField& field : m_act.fields) {
        QWidget* editor = addField(field, known);
        editor->setObjectName(actWords(field.name));
        editor->setAccessibleName(actWords(field.label));
        editor->setToolTip(actWords(field.help));
        form->addRow(actWords(field.label), editor);
    }
    options()->addLayout(form);
    for (const Entry& entry : m_entries) { // what is known already is not what is typed next
        auto* editor = findChild<QLineEdit*>(actWords(entry.field.name));
        if (!editor || entry.value())
            continue;
        editor->setFocus();
        break;
    }
}

QWidget* ActSheet::addField(const app::ActField& field, const app::ActArgs& known)
{
    switch (field.type) {
    case app::ActField::Type::Flag: {
        auto* box = new QCheckBox(actWords(field.help));
        box->setChecked(knownValue<bool>(known, field.name).value_or(field.standard == "true"));
        connect(box, &QCheckBox::toggled, this, [this] { planLater(); });
        m_entries.push_back({ field, [box] { return app::ActValue(box->isChecked()); } });
        return box;
    }
    case app::ActField::Type::Whole: {
        auto* number = new QSpinBox;
        constexpr std::int64_t Most = std::numeric_limits<int>::max();
        number->setRange(0, static_cast<int>(field.most > 0 ? std::min(field.most, Most) : Most));
        number->setValue(static_cast<int>(
            knownValue<std::int64_t>(known, field.name).value_or(actWords(field.standard).toLongLong())));
        connect(number, &QSpinBox::valueChanged, this, [this] { planLater(); });
        m_entries.push_back({ field, [number] { return app::ActValue(std::int64_t { number->value() }); } });
        return number;
    }
    case app::ActField::Type::Choice: {
        auto* choice = new QComboBox;
        for (const std::string_view word : field.choices)
            choice->addItem(actWords(word));
        if (const auto text = knownValue<std::string>(known, field.name))
            choice->setCurrentText(actWords(*text));
        connect(choice, &QComboBox::currentIndexChanged, this, [this] { planLater(); });
        m_entries.push_back({ field, [choice] { return app::ActValue(choice->currentText().toStdString()); } });
        return choice;
    }
    default:
        break;
    }
    auto* text =
        new QLineEdit(actWords(knownValue<std::string>(known, field.name).value_or(std::string(field.standard))));
    text->setPlaceholderText(actWords(field.help));
    connect(text, &QLineEdit::textChanged, this, [this] { planLater(); });
    m_entries.push_back({ field, [text]() -> std::optional<app::ActValue> {
                             const QString typed = text->text().trimmed();
                             return typed.isEmpty() ? std::nullopt : std::optional<app::ActValue>(typed.toStdString());
                         } });
    return text;
}

QString ActSheet::missing() const
{
    QStringList labels;
    for (const Entry& entry : m_entries) {
        if (entry.field.isRequired && !entry.value())
            labels << actWords(entry.field.label);
    }
    return labels.join(QStringLiteral(", "));
}

app::ActRequest ActSheet::request() const
{
    app::ActRequest request { std::string(m_act.kind), {} };
    for (const Entry& entry : m_entries) {
        if (std::optional<app::ActValue> value = entry.value())
            request.args.insert_or_assign(std::string(entry.field.name), std::move(*value));
    }
    return request;
}

} // namespace deltascope::desktop
