import { useEffect, useState } from 'preact/hooks';
import { runPath } from '../../api/client';
import type { StreamEvent } from '../../api/events';
import type { Histogram, Statistics, StatisticsCost, TensorValues, ValuesMoved } from '../../api/types';
import { Reads } from '../../components/Reads';
import { copyText, RequestError } from '../../components/states';
import { toast } from '../../components/Toast';
import { bytesQ, exact, join, percent, unknown } from '../../format';
import { between, useResource, type Resource } from '../../state/resource';
import { listen } from '../../state/store';
import { bars, moved, statisticRows, statisticsTsv, value } from './values';

interface Props {
  runId: string;
  epoch: number | null;
  step: number | null;
  tensor: number;
  a: number | null;
}

/** The values of a tensor: computed when asked for, with what that reads said before. */
export function ValuesCard({ runId, epoch, step, tensor, a }: Props) {
  const base = epoch === null || step === null ? null
    : runPath(runId, 'steps', `${epoch}:${step}`, 'tensors', String(tensor), 'statistics');
  const query = a === null ? '' : `?a=${a}`;
  const [asked, ask] = useState<string | null>(null);
  const path = base === null ? null : base + query;
  const concerned = (event: StreamEvent): boolean => between(event, runId, epoch, a ?? values.data?.a?.step ?? null, step);
  const cost = useResource<StatisticsCost>(base === null ? null : `${base}/cost${query}`, ['step'], concerned);
  const values: Resource<Statistics> = useResource(asked === path ? path : null);
  useEffect(() => ask(null), [path]);
  useEffect(() => listen((event) => concerned(event) && ask(null)), [path, values.data]);
  const failed = values.error ?? cost.error;
  const here = asked === path ? values.data : null;

  return (
    <section class="values-card" aria-label="Values">
      <h2>Values</h2>
      {failed && <RequestError error={failed} retry={values.error ? values.retry : cost.retry} />}
      {here !== null ? <Values data={here} /> : (
        <>
          <p class="muted">Range, percentiles and spread of the values, and how far they moved.</p>
          <button type="button" class="primary" disabled={cost.data === null || values.loading} onClick={() => ask(path)}>
            {values.loading ? 'Reading…' : 'Compute'}
            {cost.data === null ? '' : ` (reads ${join(bytesQ(cost.data.read_bytes))})`}
          </button>
        </>
      )}
    </section>
  );
}

function Values({ data }: { data: Statistics }) {
  return (
    <>
      <Reads of={data} />
      <HistogramPlot title="Values, equal bins" histogram={data.linear} />
      <HistogramPlot title="Absolute values, powers of two" histogram={data.logarithmic} />
      <StatisticTable a={data.a} b={data.b} />
      <button type="button" class="small" onClick={() => void copyText(statisticsTsv(data)).then(() => toast('Statistics copied'))}>
        Copy as TSV
      </button>
      {data.moved !== null && <Moved data={data.moved} elements={data.elements} />}
    </>
  );
}

function StatisticTable({ a, b }: { a: TensorValues | null; b: TensorValues }) {
  return (
    <table class="values-table">
      <thead>
        <tr><th scope="col">statistic</th>{a && <th scope="col">A {a.step}</th>}<th scope="col">B {b.step}</th></tr>
      </thead>
      <tbody>
        {statisticRows(a, b).map(([name, before, now]) => (
          <tr key={name}><th scope="row">{name}</th>{a && <td>{before}</td>}<td>{now}</td></tr>
        ))}
      </tbody>
    </table>
  );
}

function HistogramPlot({ title, histogram }: { title: string; histogram: Histogram }) {
  const { edges, a, b } = histogram;
  if (b.length === 0) return null;
  const most = Math.max(...a, ...b);
  return (
    <figure class="values-plot">
      <figcaption class="muted">{title}{a.length > 0 && '; bars B, line A'}</figcaption>
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={`${title}, ${exact(most)} in the fullest bin`}>
        <path class="values-bars" d={bars(b, most, true)} />
        {a.length > 0 && <path class="values-line" d={bars(a, most, false)} />}
      </svg>
      <div class="values-edges muted"><span>{edges[0]!.toPrecision(3)}</span><span>{edges.at(-1)!.toPrecision(3)}</span></div>
    </figure>
  );
}

function Moved({ data, elements }: { data: ValuesMoved; elements: number }) {
  return (
    <>
      <h2>How far elements moved</h2>
      <dl class="facts">
        <dt>Sign flips</dt><dd>{exact(data.sign_flips)}</dd>
        <dt>max |Δ|</dt><dd>{value(data.max_abs)}</dd>
        <dt>Relative L2</dt><dd>{value(data.relative_norm)}</dd>
      </dl>
      <table class="values-table">
        <thead><tr><th scope="col">steps of the type</th><th scope="col">elements</th><th scope="col">share</th></tr></thead>
        <tbody>
          {moved(data, elements).map(([distance, count]) => (
            <tr key={distance}><th scope="row">{distance}</th><td>{exact(count)}</td><td>{elements === 0 ? unknown : percent(count / elements)}</td></tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
