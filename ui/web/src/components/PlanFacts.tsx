import type { Plan } from '../api/types';
import { bytes, safeName } from '../format';
import { CliLine } from './CliLine';

/** What an act would do. */
export function PlanFacts({ plan }: { plan: Plan }) {
  return (
    <>
      <ol class="plan-steps" aria-label="What happens">
        {plan.steps.map(({ text, bytes: size }, i) => (
          <li key={i}><span>{safeName(text)}</span><span>{size > 0 && bytes(size)}</span></li>
        ))}
      </ol>
      <dl class="facts">
        {plan.facts.map(({ label, text }) => <><dt>{safeName(label)}</dt><dd>{safeName(text)}</dd></>)}
        {plan.act && plan.act.beside_text !== '' && <><dt>Beside the run</dt><dd>{safeName(plan.act.beside_text)}</dd></>}
        {plan.read_bytes > 0 && <><dt>Read</dt><dd>{bytes(plan.read_bytes)}</dd></>}
        {plan.write_bytes > 0 && <><dt>Written</dt><dd>{bytes(plan.write_bytes)}</dd></>}
        {plan.destination !== null && !plan.facts.some(({ text }) => text === plan.destination) && <><dt>Destination</dt><dd class="mono">{safeName(plan.destination)}</dd></>}
      </dl>
      {plan.warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {plan.warnings.map((text) => <li key={text}><span aria-hidden="true">⚑</span> {safeName(text)}</li>)}
        </ul>
      )}
      <CliLine command={plan.cli} />
    </>
  );
}
