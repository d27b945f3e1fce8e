import type { LineageRow, Restore } from '../../api/types';
import { Icon } from '../../components/Icon';
import { Link, runPage } from '../../components/Link';
import { Name } from '../../components/Name';
import { StateIcon, VerifyShield } from '../../components/StateIcon';
import { age, bytes, exact, fullTime, percent, plural, roleText, safeName, secondsSince, unknown } from '../../format';
import { now } from '../../state/store';
import { checkedText } from './checked';

interface Common {
  index: number; // for screen readers
  active: boolean;
  onClick: (event: MouseEvent) => void;
}

const lineClass = (...names: (string | false)[]): string => ['clickable', ...names].filter(Boolean).join(' ');

/** "15.9 GB, 4 deltas", or what stands in the way. */
function restoreText(restore: Restore | null, row: LineageRow): string {
  if (row.kind === 'gap') return 'not possible: not published';
  if (!row.surviving) return 'not possible: overwritten';
  if (restore === null) return unknown;
  if (!row.restorable) return restore.blocked_by === null || restore.blocked_by === row.step ? 'not possible' : `not possible: step ${restore.blocked_by}`;
  return restore.deltas === 0 ? bytes(restore.bytes) : `${bytes(restore.bytes)}, ${plural(restore.deltas, 'delta')}`;
}

const ways = (row: LineageRow): number => row.forms.filter((form) => form.usable).length;

type VersionProps = Common & { runId: string; row: LineageRow; isA: boolean; isB: boolean };

/** One version, or a hole in the numbers. */
export function VersionLine({ runId, row, isA, isB, ...common }: VersionProps) {
  const gap = row.kind === 'gap';
  const last = row.last_step !== null && row.last_step !== row.step ? ` – ${row.last_step}` : '';
  const step = `${row.step}${last}${row.surviving ? '' : '′'}`;
  return (
    <tr
      class={lineClass(isB && 'selected', common.active && 'active', !row.surviving && 'muted')} aria-rowindex={common.index}
      aria-current={isB ? 'true' : undefined} onClick={common.onClick}
    >
      <td />
      <td class="number">
        {gap ? step : <Link to={runPage(runId, 'steps', `${row.epoch}:${row.step}`)} title="Open this step"><strong>{step}</strong></Link>}
      </td>
      <td>{row.state === 'complete' ? row.kind.replace('_', ' ') : <StateIcon state={row.state} />}</td>
      <td class="number" title={fullTime(row.published_at)}>{age(secondsSince(row.published_at, now.value))}</td>
      <td class="number">{percent(row.changed_frac)}</td>
      <td class="number" title={gap ? undefined : `${exact(row.wire_bytes)} bytes`}>{gap ? unknown : bytes(row.wire_bytes)}</td>
      <td>{gap ? unknown : <VerifyShield verified={row.verified} />}</td>
      <td>
        {isA && <span class="tag">A</span>} {isB && <span class="tag">B</span>}{' '}
        {row.refs.map((ref) => <span key={ref} class="tag"><Name text={ref} limit={40} /></span>)}{' '}
        {row.restores !== undefined && <span>restores {row.restores} </span>}
        {row.branch_of !== undefined && <span>branch of {safeName(row.branch_of)} </span>}
        {row.role !== undefined && <span>{roleText(row.role)} </span>}
        {row.problem && (
          <span class={row.problem.notice ? 'muted' : 'error-text'} title={safeName(`${row.problem.text} ${row.problem.remedy}`)}>
            {!row.problem.notice && '✕ '}{row.problem.code} {safeName(row.problem.text)}
          </span>
        )}
        {!row.surviving && `overwritten by a later epoch`}
        {ways(row) > 1 && <span class="muted" title="Forms that this step can be rebuilt over; its page lists them"> {ways(row)} ways</span>}
      </td>
      <td class="number" title={safeName(row.restore?.reason ?? '')}>{restoreText(row.restore, row)}</td>
    </tr>
  );
}

/** A chain folded into one line. */
export function FoldLine({ rows, from, to, ...common }: Common & { rows: LineageRow[]; from: number; to: number }) {
  const newest = rows[from]!;
  const oldest = rows[to - 1]!;
  const chain = rows.slice(from, to);
  const anchor = oldest.kind === 'anchor' ? `chain of ${oldest.step}` : newest.surviving ? 'part of a chain' : 'overwritten';
  return (
    <tr class={lineClass('fold', common.active && 'active')} aria-rowindex={common.index} onClick={common.onClick}>
      <td />
      <td colSpan={4}>
        <Icon name="right" /> <strong>{oldest.step} – {newest.step}</strong>{' '}
        <span class="muted">{anchor}, epoch {newest.epoch}, {plural(chain.length, 'version')}</span>
      </td>
      <td class="number muted">{bytes(chain.reduce((sum, row) => sum + row.wire_bytes, 0))}</td>
      <td class="muted" colSpan={3}>{checkedText(chain)}</td>
    </tr>
  );
}

/** Where a new epoch began. */
export function RestartLine({ epoch, base, ...common }: Common & { epoch: number; base: LineageRow | null }) {
  return (
    <tr class={lineClass(common.active && 'active')} aria-rowindex={common.index} onClick={common.onClick}>
      <td />
      <td colSpan={8}>
        <strong>Trainer restarted{base === null ? '' : ` from step ${base.step}`}</strong>, epoch {epoch} begins
      </td>
    </tr>
  );
}
