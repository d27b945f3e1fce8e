#include "store/xet/file_record.h"

namespace deltascope::xet {

void FileRecord::add(const Chunk& chunk, const std::shared_ptr<const KnownXorb>& xorb, std::uint32_t index)
{
    if (m_terms.empty() || m_terms.back().xorb != xorb || m_terms.back().term.end != index) {
        closeTerm();
        m_terms.push_back({ xorb, { {}, 0, index, index, {} } });
    }
    ShardTerm& term = m_terms.back().term;
    ++term.end;
    term.bytes += chunk.bytes;
    m_termChunks.push_back(chunk.hash);
    m_root.add(chunk.hash, chunk.bytes);
    m_bytes += chunk.bytes;
}

void FileRecord::close()
{
    closeTerm();
    m_hash = m_bytes == 0 ? Hash {} : fileHashOfRoot(m_root.finish());
}

void FileRecord::closeTerm()
{
    if (!m_termChunks.empty())
        m_terms.back().term.verification = verificationHash(m_termChunks);
    m_termChunks.clear();
}

ShardFile FileRecord::shardFile() const
{
    ShardFile file { m_hash, {} };
    for (const OpenTerm& open : m_terms) {
        file.terms.push_back(open.term);
        file.terms.back().xorb = open.xorb->hash;
    }
    return file;
}

} // namespace deltascope::xet
