#include "deltascope/engine/form_graph.h"

#include <numeric>

namespace deltascope {

namespace {

/// Forms sorted by one of their ends: where those of each state begin, and their numbers.
void sortBy(StateId Form::*end, std::size_t states, const std::vector<Form>& forms, std::vector<std::uint32_t>& begins,
            std::vector<FormId>& sorted)
{
    begins.assign(states + 1, 0);
    for (const Form& form : forms)
        ++begins[form.*end + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    sorted.resize(forms.size());
    std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
    for (FormId form = 0; form < forms.size(); ++form)
        sorted[next[forms[form].*end]++] = form;
}

}

FormGraph::FormGraph(std::size_t states, std::vector<Form> forms)
    : m_forms(std::move(forms))
{
    sortBy(&Form::from, states, m_forms, m_leaving, m_byFrom);
    sortBy(&Form::to, states, m_forms, m_entering, m_byTo);
}

std::span<const FormId> FormGraph::formsOn(StateId state) const noexcept
{
    return std::span(m_byFrom).subspan(m_leaving[state], m_leaving[state + 1] - m_leaving[state]);
}

std::span<const FormId> FormGraph::formsOf(StateId state) const noexcept
{
    return std::span(m_byTo).subspan(m_entering[state], m_entering[state + 1] - m_entering[state]);
}

} // namespace deltascope
