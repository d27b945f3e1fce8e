#include "loop.h"

namespace deltascope::http {

Exchange::Exchange(std::shared_ptr<Transfer> transfer)
    : m_transfer(std::move(transfer))
{
}

Exchange::~Exchange()
{
    using namespace std::chrono_literals;
    if (!m_transfer) // moved from
        return;
    m_transfer->cancel();
    while (!m_transfer->wait(1h)) { }
}

bool Exchange::wait(std::chrono::milliseconds time) const { return m_transfer->wait(time); }

void Exchange::cancel() { m_transfer->cancel(); }

Result<Response> Exchange::take() { return m_transfer->take(); }

Client::Client(const ClientOptions& options)
    : m_loop(std::make_unique<Loop>(options))
{
}

Client::~Client() = default;

Exchange Client::start(Request request)
{
    auto transfer = std::make_shared<Transfer>(std::move(request));
    m_loop->submit(transfer);
    return Exchange(std::move(transfer));
}

Result<Response> Client::send(const Request& request, TaskContext& task)
{
    constexpr auto Look = std::chrono::milliseconds(50); // a task tells nobody that it is to stop
    Result<void> going = task.going();
    DS_CHECK(going);
    Exchange exchange = start(request);
    while (!exchange.wait(Look)) {
        going = task.going();
        if (!going)
            exchange.cancel();
    }
    Result<Response> outcome = exchange.take();
    return !outcome && outcome.error().code == Code::Canceled && !going ? Result<Response>(fail(going.error()))
                                                                        : std::move(outcome);
}

Counters Client::counters() const { return m_loop->counters(); }

} // namespace deltascope::http
