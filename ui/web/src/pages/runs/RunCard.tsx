import type { ComponentChildren } from 'preact';
import type { RunSummary } from '../../api/types';
import { Link, runPage } from '../../components/Link';
import { Name } from '../../components/Name';
import { RunPill } from '../../components/RunPill';
import { Spark } from '../../components/Spark';
import { ageQ, durationQ, fullTime, percentQ, plural, type Quantity, safeName, secondsSince, shorten, unknown } from '../../format';
import { alerts, now } from '../../state/store';

/** One run: what it published last, how it did lately, and what is wrong. */
export function RunCard({ run }: { run: RunSummary }) {
  const bad = run.state === 'error' || run.worst_alert === 'error' || run.health.state === 'broken';
  return (
    <article class={bad ? 'card run-card bad' : 'card run-card'}>
      <header>
        <h2><Link to={runPage(run.id)} keep={false}><Name text={run.name} limit={48} /></Link></h2>
        <RunPill run={run} />
        <p class="muted"><Name text={run.source} limit={56} /></p>
      </header>
      {run.state === 'opening' ? <p class="run-opening muted"><Name text={run.opening ?? 'being opened'} limit={160} /></p> : <Facts run={run} />}
    </article>
  );
}

function Facts({ run }: { run: RunSummary }) {
  const { kpi } = run;
  return (
    <>
      <dl class="run-facts">
        <Fact label="Latest step" value={{ value: String(kpi.latest ?? unknown), unit: '' }} />
        <Fact label="Age" value={ageQ(secondsSince(kpi.latest_at_us, now.value))} title={fullTime(kpi.latest_at_us)} />
        <Fact label="Changed" value={percentQ(kpi.changed_frac)} />
        <Fact label={<><span class="pause-mark" />Paused</>} value={durationQ(kpi.pause_ms === null ? null : kpi.pause_ms / 1000)} />
      </dl>
      <figure class="run-spark">
        <figcaption class="muted">Changed, last {run.spark.length} steps</figcaption>
        {run.spark.some((value) => value !== null)
          ? <Spark values={run.spark} label="Changed share of the last steps" height={56} />
          : <p class="muted">no deltas yet</p>}
      </figure>
      <footer>
        <Worst run={run} />
        <span class="muted">{kpi.replicas === 0 ? 'no replicas' : `${kpi.replicas_in_sync} of ${kpi.replicas} say in sync`}</span>
      </footer>
    </>
  );
}

function Fact({ label, value, title }: { label: ComponentChildren; value: Quantity; title?: string }) {
  return (
    <div title={title}>
      <dt>{label}</dt>
      <dd><span class="page-number">{value.value}</span> {value.unit !== '' && <small class="muted">{value.unit}</small>}</dd>
    </div>
  );
}

/** The worst thing about a run in one line. */
function Worst({ run }: { run: RunSummary }) {
  const { state, headline } = run.health;
  if (state === 'no_contact') return <span class="worst" title={safeName(headline)}>! {safeName(headline)}</span>;
  if (run.error) {
    return <span class="worst"><strong class="error-text">✕ {run.error.code}</strong> {shorten(safeName(run.error.text))}</span>;
  }
  if (state === 'broken') return <span class="worst error-text">✕ {safeName(headline)}</span>;
  const firing = (alerts.value?.alerts ?? []).filter((alert) => alert.run === run.id && alert.state !== 'cleared');
  const alert = firing.find(({ level }) => level === run.worst_alert) ?? firing[0];
  if (!alert && state === 'doubtful') return <span class="worst" title={safeName(headline)}>! {safeName(headline)}</span>;
  if (!alert) return <span>{run.alerts_firing === 0 ? 'No alerts' : plural(run.alerts_firing, 'alert')}</span>;
  return (
    <span class="worst">
      <strong class={alert.level === 'error' ? 'error-text' : ''}>{alert.level === 'error' ? '✕' : '⚑'} {alert.rule}</strong>{' '}
      {shorten(safeName(alert.text || alert.title))}
    </span>
  );
}
