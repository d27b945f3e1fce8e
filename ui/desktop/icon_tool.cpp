#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QSvgRenderer>

#include <cstdio>

// Part of the build: draws an SVG as a PNG of a size, for desktops that take no SVG.
// usage: deltascope_icon_tool FROM.svg SIZE TO.png

int main(int count, char** words)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QGuiApplication application(count, words);
    const int size = count == 4 ? QByteArray(words[2]).toInt() : 0;
    QSvgRenderer drawing;
    if (size <= 0 || !drawing.load(QString::fromLocal8Bit(words[1]))) {
        std::fputs("usage: deltascope_icon_tool FROM.svg SIZE TO.png\n", stderr);
        return 2;
    }
    QImage picture(size, size, QImage::Format_ARGB32_Premultiplied);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    drawing.render(&painter);
    painter.end();
    return picture.save(QString::fromLocal8Bit(words[3]), "PNG") ? 0 : 1;
}
