import { useState } from 'preact/hooks';
import { ApiError, post } from '../../api/client';
import type { AlertList, AlertRule, Backtest } from '../../api/types';
import { Card } from '../../components/Card';
import { Dialog } from '../../components/Dialog';
import { Link, runPage } from '../../components/Link';
import { EmptyState, Loaded } from '../../components/states';
import { Table } from '../../components/Table';
import { toast } from '../../components/Toast';
import { clock, fullTime, plural, safeName } from '../../format';
import { useResource } from '../../state/resource';
import { alerts, mayAdmin, now, openRun, runs } from '../../state/store';

/** The rules, and when each would have fired on what is in the bucket. */
export function Rules({ rules }: { rules: AlertRule[] }) {
  const [tested, setTested] = useState<AlertRule | null>(null);
  return (
    <Card title="Rules" note={`${rules.filter(({ on }) => on).length} on`}>
      <Table
        label="Rules" rows={rules} id={(rule) => rule.id}
        columns={[
          { id: 'id', head: 'rule', cell: (r) => <strong>{r.id}</strong>, key: (r) => r.id },
          { id: 'level', head: 'level', cell: (r) => r.level, key: (r) => r.level },
          { id: 'on', head: 'on', cell: (r) => <OnOff rule={r} />, key: (r) => Number(r.on) },
          { id: 'threshold', head: 'threshold', number: true, cell: (r) => <Threshold rule={r} />, narrow: true },
          { id: 'what', head: 'fires when', cell: (r) => r.what, narrow: true },
          {
            id: 'test', head: <span class="visually-hidden">back-test</span>,
            cell: (r) => <button type="button" class="small" aria-label={`Back-test ${r.id}`} onClick={() => setTested(r)}>Back-test</button>,
          },
        ]}
      />
      {tested && <BacktestSheet rule={tested} onClose={() => setTested(null)} />}
    </Card>
  );
}

async function change(rule: AlertRule, on: boolean, threshold: number | null): Promise<void> {
  try {
    alerts.value = await post<AlertList>(`alerts/rules/${encodeURIComponent(rule.id)}`, { on, threshold });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(`✕ ${error.problem.detail}`);
  }
}

function OnOff({ rule }: { rule: AlertRule }) {
  if (!mayAdmin.value) return <>{rule.on ? '✓ on' : '– off'}</>;
  return (
    <input
      type="checkbox" aria-label={`${rule.id} is on`} checked={rule.on}
      onChange={(event) => void change(rule, event.currentTarget.checked, rule.threshold)}
    />
  );
}

function Threshold({ rule }: { rule: AlertRule }) {
  if (rule.threshold === null) return null;
  if (!mayAdmin.value) return <>{rule.threshold} {rule.unit}</>;
  const take = (text: string) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isFinite(value) && value !== rule.threshold) void change(rule, rule.on, value);
  };
  return (
    <label>
      <input
        type="number" step="any" class="threshold" aria-label={`Threshold of ${rule.id}`} value={rule.threshold}
        onChange={(event) => take(event.currentTarget.value)}
      />{' '}
      {rule.unit}
    </label>
  );
}

function BacktestSheet({ rule, onClose }: { rule: AlertRule; onClose: () => void }) {
  const list = runs.value?.runs ?? [];
  const [run, setRun] = useState(openRun.value ?? list[0]?.id ?? '');
  const query = new URLSearchParams({ run, rule: rule.id });
  const loaded = useResource<Backtest>(run === '' ? null : `alerts/backtest?${query}`);
  return (
    <Dialog title={`Back-test of ${rule.id}`} note={rule.what} onClose={onClose}>
      <div class="field">
        <label for="backtest-run">Run</label>
        <select id="backtest-run" value={run} onChange={(event) => setRun(event.currentTarget.value)}>
          {list.map(({ id, name }) => <option key={id} value={id}>{safeName(name)}</option>)}
        </select>
      </div>
      <Loaded from={loaded}>
        {({ fired }) => (
          <div>
            <p role="status">{fired.length === 0 ? 'The rule would not have fired.' : `The rule would have fired ${plural(fired.length, 'time')}.`}</p>
            {fired.length > 0 && (
              <ol class="backtest">
                {fired.slice(0, 200).map(({ step, t_us: t, text }) => (
                  <li key={`${t} ${text}`}>
                    <time class="muted" title={fullTime(t)}>{clock(t, now.value)}</time>
                    {step !== null && <Link to={runPage(run, 'steps', String(step))} keep={false}>step {step}</Link>}
                    <span>{safeName(text)}</span>
                  </li>
                ))}
              </ol>
            )}
          </div>
        )}
      </Loaded>
      {list.length === 0 && <EmptyState title="No run is open" />}
    </Dialog>
  );
}
