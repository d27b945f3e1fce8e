#include "store/xet/ledger.h"

#include "store/xet/merkle.h"

#include <algorithm>
#include <iterator>

namespace deltascope::xet {

namespace {

tl::unexpected<Error> refutedFile(const Hash& file)
{
    return fail(Code::Digest, "the bytes that were read are not those of the file with this hash", file.text());
}

bool isImpossible(const Hash& file, std::uint64_t fileBytes) { return file.isZero() != (fileBytes == 0); }

} // namespace

std::uint64_t Ledger::now()
{
    const std::lock_guard lock(m_mutex);
    return m_now;
}

Result<void> Ledger::add(const Hash& file, std::uint64_t fileBytes, const std::vector<PlacedChunk>& chunks,
                         std::uint64_t since)
{
    const std::lock_guard lock(m_mutex);
    const Key key { file, fileBytes };
    Account& account = m_accounts[key];
    if (account.refutedAt > since)
        return refutedFile(file);
    account.lastUse = ++m_now;
    if (account.proof != Proof::Proven)
        account.proof = Proof::Partial;
    for (const PlacedChunk& chunk : chunks) {
        if (chunk.offset > fileBytes || chunk.chunk.bytes > fileBytes - chunk.offset)
            return fail(Code::Truncated, "the file is longer than its bucket says", file.text());
        if (contradicts(account, chunk)) {
            if (account.proof == Proof::Proven) // what is known is right, so it is this chunk that is not
                return refutedFile(file);
            account.proof = Proof::Refuted;
            break;
        }
        if (account.chunks.try_emplace(chunk.offset, chunk.chunk).second) {
            account.coveredBytes += chunk.chunk.bytes;
            ++m_chunks;
        }
    }
    if (account.proof == Proof::Partial)
        account.proof = judge(key, account);
    if (account.proof == Proof::Refuted) {
        drop(account);
        account.refutedAt = m_now;
        return refutedFile(file);
    }
    makeRoom();
    return {};
}

Result<void> Ledger::check(const Hash& file, std::uint64_t fileBytes, std::uint64_t since) const
{
    if (isImpossible(file, fileBytes))
        return refutedFile(file);
    const std::lock_guard lock(m_mutex);
    const auto at = m_accounts.find(Key { file, fileBytes });
    return at != m_accounts.end() && at->second.refutedAt > since ? refutedFile(file) : Result<void>();
}

Proof Ledger::proofOf(const Hash& file, std::uint64_t fileBytes) const
{
    if (isImpossible(file, fileBytes))
        return Proof::Refuted;
    if (fileBytes == 0)
        return Proof::Proven;
    const std::lock_guard lock(m_mutex);
    const auto at = m_accounts.find(Key { file, fileBytes });
    return at == m_accounts.end() ? Proof::Unread : at->second.proof;
}

bool Ledger::contradicts(const Account& account, const PlacedChunk& chunk)
{
    const auto next = account.chunks.lower_bound(chunk.offset);
    if (next != account.chunks.end()) {
        if (next->first == chunk.offset)
            return next->second != chunk.chunk;
        if (next->first - chunk.offset < chunk.chunk.bytes)
            return true;
    }
    if (next == account.chunks.begin())
        return false;
    const auto before = std::prev(next);
    return chunk.offset - before->first < before->second.bytes;
}

Proof Ledger::judge(const Key& key, const Account& account)
{
    if (account.coveredBytes != key.bytes)
        return Proof::Partial;
    MerkleRoot root;
    for (const auto& [offset, chunk] : account.chunks)
        root.add(chunk.hash, chunk.bytes);
    return fileHashOfRoot(root.finish()) == key.hash ? Proof::Proven : Proof::Refuted;
}

void Ledger::drop(Account& account)
{
    m_chunks -= account.chunks.size();
    account.chunks.clear();
    account.coveredBytes = 0;
}

void Ledger::makeRoom()
{
    while (m_chunks > m_mostChunks) {
        auto oldest = m_accounts.end();
        for (auto at = m_accounts.begin(); at != m_accounts.end(); ++at) {
            if (!at->second.chunks.empty()
                && (oldest == m_accounts.end() || at->second.lastUse < oldest->second.lastUse))
                oldest = at;
        }
        drop(oldest->second);
        m_accounts.erase(oldest);
    }
}

} // namespace deltascope::xet
