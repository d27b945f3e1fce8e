#include "json_output.h"

namespace deltascope::cli {

std::string backendKeys(const app::Service& service)
{
    std::vector<app::ProblemView> notices;
    for (const Error& notice : service.backendNotices())
        notices.push_back(app::problemView(notice));
    return app::backendKeysToJson(service.deviceShare(), notices);
}

void ObjectPieces::write(std::string_view piece)
{
    if (piece.empty())
        return;
    writeOut(m_last);
    m_last = piece;
}

void ObjectPieces::end(const std::string& keys)
{
    m_last.insert(m_last.rfind('}'), keys);
    writeOut(m_last + "\n");
}

} // namespace deltascope::cli
