import { pageParameter, setPageParameters } from '../../canvas/address';
import '../../canvas/canvas.css';
import { Icon } from '../../components/Icon';
import { EmptyState, StaleBadge } from '../../components/states';
import { Tabs } from '../../components/Tabs';
import { epoch, setView, stepA, stepB } from '../../state/cursor';
import { detail } from '../../state/store';
import './diff.css';
import { Exact } from './Exact';
import { TouchedView } from './TouchedView';

type Mode = 'touched' | 'different';

const MODES: { id: Mode; text: string }[] = [{ id: 'touched', text: 'Touched' }, { id: 'different', text: 'Different' }];

/** What is different between the steps A and B. */
export default function DiffPage({ runId = '' }: Record<string, string>) {
  const a = stepA.value;
  const b = stepB.value;
  if (b === null) return <EmptyState title="No version to compare yet" />;
  if (a === null) return <ChooseA b={b} />;
  const mode: Mode = pageParameter('mode') === 'different' ? 'different' : 'touched';
  const pair = { runId, epoch: epoch.value, a, b };
  const key = `${epoch.value} ${a} ${b}`;
  return (
    <div class="diff">
      <div class="canvas-tools">
        <h1><span class="muted">A</span> {a} <span class="muted">↔ B</span> {b}</h1>
        <button type="button" onClick={() => setView({ a: b, b: a })}><Icon name="undo" /> Swap</button>
        <Tabs
          label="What is compared" options={MODES} chosen={mode}
          choose={(id) => setPageParameters({ mode: id === 'touched' ? null : id, task: null })}
        />
        <span class="muted">
          {mode === 'touched' ? 'what the deltas between A and B touch, from counts alone' : 'bits of all elements at A and at B'}
        </span>
        <StaleBadge />
      </div>
      {mode === 'touched' ? <TouchedView key={key} {...pair} /> : <Exact key={key} {...pair} />}
    </div>
  );
}

/** Steps that are worth comparing with. */
function ChooseA({ b }: { b: number }) {
  const kpi = detail.value?.kpi;
  const first = detail.value?.first_step ?? null;
  const choices: [text: string, step: number | null | undefined][] = [
    ['the step before', b > (first ?? b) ? b - 1 : null],
    ['its anchor', kpi?.chain_anchor],
    ['the last checked step', kpi?.verified_to],
    ['the first step', first],
  ];
  const seen = new Set<number>([b]);
  const offered = choices.filter((choice): choice is [string, number] => {
    const step = choice[1];
    return typeof step === 'number' && !seen.has(step) && Boolean(seen.add(step));
  });
  return (
    <EmptyState title={`Compare ${b} with which step?`}>
      <p>A is the older one. Shift and click a row of the lineage, or choose here.</p>
      <p class="choices">
        {offered.map(([text, step]) => (
          <button key={text} type="button" onClick={() => setView({ a: step })}>{text}, {step}</button>
        ))}
      </p>
    </EmptyState>
  );
}
