#include "look/tokens.h"

#include <array>

namespace deltascope::desktop {

namespace {

struct Pair {
    QRgb light;
    QRgb dark;
};

// In the order of Token.
constexpr std::array<Pair, TokenCount> Colors { {
    { 0xfff3f4f6, 0xff15181c }, // Window
    { 0xffffffff, 0xff1b1e23 }, // Surface
    { 0xffffffff, 0xff23272e }, // Raised
    { 0xffeceef1, 0xff111418 }, // Sunken
    { 0xffd9dde3, 0xff2e343c }, // Border
    { 0xffb4bbc6, 0xff4a525e }, // StrongBorder
    { 0xffeceef1, 0xff272c33 }, // Grid
    { 0xff1b1e23, 0xffe6e8eb }, // Text
    { 0xff5c6570, 0xffa4abb5 }, // Muted
    { 0xff2f5bc9, 0xff7ab8ec }, // Accent
    { 0xffffffff, 0xff10161c }, // OnAccent
    { 0xffe6ecfa, 0xff22344a }, // Selection
    { 0xffe6ecfa, 0xff20344a }, // Pressed
    { 0xffcd460f, 0xfffe5a31 }, // Pause
    { 0xff8f0a6b, 0xffff9bd8 }, // Error
    { 0xfffbeaf5, 0xff3a1f33 }, // ErrorGround
    { 0xff7d5600, 0xffe8c15a }, // Warn
    { 0xfffdf3d9, 0xff342d1b }, // WarnGround
    { 0xff0a7546, 0xff5fd6a0 }, // Ok
    { 0xff446fdd, 0xff68b1e4 }, // Upload
    { 0xff533c95, 0xffb369eb }, // Fetch
    { 0xff0a9056, 0xff4ae9a9 }, // Verify
    { 0xff7890d8, 0xff4d81a8 }, // Diff
    { 0xff513a07, 0xfff0d054 }, // Resume
    { 0xff7c787d, 0xff84918c }, // Waiting
    { 0xff8b939e, 0xff77808c }, // OtherSeries
    { 0xfff1f2f4, 0xff24282e }, // ZeroCell
    { 0x611b1e23, 0x8c080a0c }, // Scrim
} };

Shade shadeNow = Shade::Light;

}

QColor color(Token token, Shade shade)
{
    const Pair& pair = Colors[static_cast<std::size_t>(token)];
    return QColor::fromRgba(shade == Shade::Light ? pair.light : pair.dark);
}

QColor color(Token token) { return color(token, shadeNow); }

Shade currentShade() { return shadeNow; }

void setCurrentShade(Shade shade) { shadeNow = shade; }

} // namespace deltascope::desktop
