import { Fragment } from 'preact';
import type { Bar, SpanRow, Timeline } from '../../api/types';
import { groupOf, type Group } from '../../canvas/phases';
import { Icon } from '../../components/Icon';
import { Name } from '../../components/Name';
import { copyText } from '../../components/states';
import { toast } from '../../components/Toast';
import { bytes, durationQ, milliseconds, rate, safeName, times } from '../../format';
import { syncText } from './syncText';

const seconds = (us: number): number => us / 1e6;

/** The spans behind one bar, and what was parallel. */
export function SyncDetails({ bar, data, trace }: { bar: Bar; data: Timeline; trace: string }) {
  const visible = data.visible.find(({ step }) => step === bar.step)?.t_us ?? null;
  const publishers = new Set(data.spans.filter((span) => span.phase === 'upload').map((span) => span.actor));
  const spans = data.spans.filter((span) => span.step === bar.step && (span.actor === bar.actor || publishers.has(span.actor)));
  const paused = durationQ(bar.pause_ms === null ? null : bar.pause_ms / 1000);
  const usual = data.summary.p50_ms;
  const copy = async (): Promise<void> => {
    await copyText(syncText(bar));
    toast('Copied as text');
  };
  return (
    <aside class="sync-details" aria-label="Chosen sync">
      <h2>Step {bar.step}{bar.actor !== '' && <>, <Name text={bar.actor} /></>}</h2>
      <p class="big">
        {paused.value} <small>{paused.unit} paused</small>
        {bar.pause_ms !== null && usual !== null && usual > 0 && <span class="usual">{times(bar.pause_ms / usual)} usual</span>}
      </p>
      <dl class="facts"><dt>Sync total</dt><dd>{milliseconds(bar.total_ms)}</dd></dl>
      <h3>Spans{visible === null ? '' : ', seconds after visible'}</h3>
      {spans.length === 0 ? <p class="muted">Breakdown not reported, totals only.</p> : (
        <table aria-label="Spans of this sync">
          <tbody>
            {spans.map((span) => (
              <SpanLine key={`${span.actor} ${span.phase} ${span.t0_us}`} span={span} group={groupWithin(span, spans)} visible={visible} />
            ))}
          </tbody>
        </table>
      )}
      {bar.work.length > 0 && (
        <>
          <h3>Work, parallel parts counted twice</h3>
          <dl class="facts">
            {bar.work.map(({ phase, ms, bytes: size }) => (
              <Fragment key={phase}>
                <dt>{safeName(phase)}</dt>
                <dd>{milliseconds(ms)}{size > 0 && <span class="muted"> {bytes(size)}</span>}</dd>
              </Fragment>
            ))}
          </dl>
        </>
      )}
      <p class="acts">
        <button type="button" onClick={() => void copy()}><Icon name="copy" /> Copy as text</button>
        <a class="button" href={trace} download>Export trace</a>
      </p>
      <p class="muted">The trace opens in Perfetto and in about:tracing.</p>
    </aside>
  );
}

/** Work inside of a pause is part of it, whatever its name. */
function groupWithin(span: SpanRow, spans: readonly SpanRow[]): Group {
  const paused = spans.some((other) =>
    groupOf(other.phase) === 'pause' && other.actor === span.actor && other.t0_us <= span.t0_us && span.t1_us <= other.t1_us);
  return paused ? 'pause' : groupOf(span.phase);
}

function SpanLine({ span, group, visible }: { span: SpanRow; group: Group; visible: number | null }) {
  const length = seconds(span.t1_us - span.t0_us);
  return (
    <tr>
      <th scope="row" class={`phase-${group}`}>{safeName(span.phase.replace(/^pause\./, ''))}</th>
      <td class="number muted">{visible === null ? '' : seconds(span.t0_us - visible).toFixed(2)}</td>
      <td class="number">{milliseconds(length * 1000)}</td>
      <td class="number muted">{span.bytes > 0 && length > 0 ? rate(span.bytes / length) : ''}</td>
    </tr>
  );
}
