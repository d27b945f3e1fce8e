#include "look/look.h"

#include "look/tokens.h"
#include "look/type_scale.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QFile>
#include <QFontDatabase>
#include <QFontInfo>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>
#include <QWidget>

#include <utility>

namespace deltascope::desktop {

namespace {

Metrics metricsNow;
Appearance appearanceNow = Appearance::System;
Density densityNow = Density::Comfortable;
double typeScale = 1;
QString sheetNow;

constexpr const char* Dressed = "dressed"; ///< property of windows

/// What the desktop asks for: its portal, else whether its windows are dark.
Shade systemShade(const QPalette& untouched)
{
    QDBusMessage call = QDBusMessage::createMethodCall(
        QStringLiteral("org.freedesktop.portal.Desktop"), QStringLiteral("/org/freedesktop/portal/desktop"),
        QStringLiteral("org.freedesktop.portal.Settings"), QStringLiteral("Read"));
    call << QStringLiteral("org.freedesktop.appearance") << QStringLiteral("color-scheme");
    if (QDBusConnection::sessionBus().isConnected()) {
        const QDBusMessage answer = QDBusConnection::sessionBus().call(call, QDBus::Block, 100);
        if (answer.type() == QDBusMessage::ReplyMessage && !answer.arguments().isEmpty()) {
            QVariant value = answer.arguments().constFirst();
            while (value.canConvert<QDBusVariant>())
                value = value.value<QDBusVariant>().variant();
            if (value.toUInt() != 0) // 0: no preference
                return value.toUInt() == 1 ? Shade::Dark : Shade::Light;
        }
    }
    return untouched.color(QPalette::Window).lightness() < 128 ? Shade::Dark : Shade::Light;
}

QPalette paletteOf(Shade shade)
{
    QPalette palette;
    const auto set = [&](QPalette::ColorRole role, Token token) { palette.setColor(role, color(token, shade)); };
    set(QPalette::Window, Token::Window);
    set(QPalette::WindowText, Token::Text);
    set(QPalette::Base, Token::Surface);
    set(QPalette::AlternateBase, Token::Window);
    set(QPalette::ToolTipBase, Token::Raised);
    set(QPalette::ToolTipText, Token::Text);
    set(QPalette::Text, Token::Text);
    set(QPalette::PlaceholderText, Token::Muted);
    set(QPalette::Button, Token::Raised);
    set(QPalette::ButtonText, Token::Text);
    set(QPalette::BrightText, Token::Error);
    set(QPalette::Link, Token::Accent);
    set(QPalette::LinkVisited, Token::Accent);
    set(QPalette::Highlight, Token::Selection);
    set(QPalette::HighlightedText, Token::Text);
    set(QPalette::Light, Token::Border);
    set(QPalette::Midlight, Token::Border);
    set(QPalette::Mid, Token::StrongBorder);
    set(QPalette::Dark, Token::StrongBorder);
    set(QPalette::Shadow, Token::StrongBorder);
    for (const QPalette::ColorRole role : { QPalette::WindowText, QPalette::Text, QPalette::ButtonText })
        palette.setColor(QPalette::Disabled, role, color(Token::StrongBorder, shade));
    return palette;
}

/// resources/desktop/style.qss with @names of tokens and measures filled in.
QString styleSheet(Shade shade)
{
    static const std::pair<const char*, Token> Names[] = {
        { "@strong-border", Token::StrongBorder },
        { "@border", Token::Border },
        { "@error-ground", Token::ErrorGround },
        { "@warn-ground", Token::WarnGround },
        { "@on-accent", Token::OnAccent },
        { "@window", Token::Window },
        { "@surface", Token::Surface },
        { "@raised", Token::Raised },
        { "@sunken", Token::Sunken },
        { "@text", Token::Text },
        { "@muted", Token::Muted },
        { "@accent", Token::Accent },
        { "@selection", Token::Selection },
        { "@pressed", Token::Pressed },
        { "@error", Token::Error },
        { "@warn", Token::Warn },
        { "@ok", Token::Ok },
    };
    QFile file(QStringLiteral(":/desktop/style.qss"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QString text = QString::fromUtf8(file.readAll());
    for (const auto& [name, token] : Names)
        text.replace(QLatin1String(name), color(token, shade).name());
    text.replace(QLatin1String("@shade"), shade == Shade::Dark ? QStringLiteral("dark") : QStringLiteral("light"));
    text.replace(QLatin1String("@row"), QString::number(metricsNow.row) + QStringLiteral("px"));
    text.replace(QLatin1String("@label"), QString::number(typeFont(Type::Label).pixelSize()) + QStringLiteral("px"));
    text.replace(QLatin1String("@control"), QString::number(metricsNow.control - 2) + QStringLiteral("px"));
    return text;
}

QFont systemFont()
{
    static const QFont original = QApplication::font();
    return original;
}

}

void applyLook(QApplication& application, Appearance appearance, Density density)
{
    static const QPalette untouched = QApplication::palette();
    systemFont();
    appearanceNow = appearance;
    densityNow = density;
    metricsNow.row = qRound((density == Density::Compact ? 22 : 28) * typeScale);
    metricsNow.control = qRound((density == Density::Compact ? 24 : 28) * typeScale);
    const Shade shade = appearance == Appearance::System ? systemShade(untouched)
        : appearance == Appearance::Dark                 ? Shade::Dark
                                                         : Shade::Light;
    setCurrentShade(shade);
    if (application.style()->objectName() != QLatin1String("fusion"))
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setPalette(paletteOf(shade));
    QApplication::setFont(typeFont(Type::Body));
    sheetNow = styleSheet(shade);
    for (QWidget* window : QApplication::topLevelWidgets()) {
        if (window->property(Dressed).toBool())
            window->setStyleSheet(sheetNow);
    }
}

void dress(QWidget& window)
{
    if (window.parentWidget())
        return;
    window.setProperty(Dressed, true);
    window.setStyleSheet(sheetNow);
    for (QWidget* widget : window.findChildren<QWidget*>())
        widget->ensurePolished(); // else it would be done when a page is first shown
}

void setTypeScale(double times, QWidget& root)
{
    const double by = times / std::exchange(typeScale, times);
    QList<std::pair<QWidget*, QFont>> own; // a new style sheet takes them back
    for (QWidget* widget : root.findChildren<QWidget*>()) {
        QFont font = widget->font();
        if (!widget->testAttribute(Qt::WA_SetFont) || font.pixelSize() <= 0)
            continue;
        font.setPixelSize(qRound(font.pixelSize() * by));
        own.emplace_back(widget, font);
    }
    applyLook(*qApp, appearanceNow, densityNow);
    for (const auto& [widget, font] : own)
        widget->setFont(font);
}

const Metrics& metrics() { return metricsNow; }
Appearance currentAppearance() { return appearanceNow; }
Density currentDensity() { return densityNow; }

QFont typeFont(Type type)
{
    QFont font = type == Type::Mono ? QFontDatabase::systemFont(QFontDatabase::FixedFont) : systemFont();
    double size = 13;
    QFont::Weight weight = QFont::Normal;
    switch (type) {
    case Type::Kpi:
        size = 28;
        weight = QFont::DemiBold;
        break;
    case Type::PageNumber:
        size = 20;
        weight = QFont::DemiBold;
        break;
    case Type::SheetTitle:
        size = 17;
        weight = QFont::DemiBold;
        break;
    case Type::Section:
        size = 15;
        weight = QFont::DemiBold;
        break;
    case Type::Body:
        break;
    case Type::Table:
    case Type::Mono:
        size = 12;
        break;
    case Type::TableTitle:
        size = 12;
        weight = QFont::DemiBold;
        break;
    case Type::Label:
        size = 11;
        break;
    }
    // 10 pt is the usual size of desktops and 13 px at 96 dpi; a larger one scales everything.
    const double points = systemFont().pointSizeF() > 0 ? systemFont().pointSizeF() : 10;
    font.setPixelSize(std::max(9, qRound(size * std::max(1.0, points / 10) * typeScale)));
    font.setWeight(weight);
    return font;
}

void setRole(QWidget* widget, const char* role)
{
    if (widget->property("role").toString() == QLatin1String(role))
        return;
    widget->setProperty("role", QLatin1String(role));
    if (widget->testAttribute(Qt::WA_WState_Polished))
        repolish(widget); // else it reads the role when it is shown; now it would forget a font that it gets later
}

void repolish(QWidget* widget)
{
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

} // namespace deltascope::desktop
