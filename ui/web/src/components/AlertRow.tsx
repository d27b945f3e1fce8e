import { post } from '../api/client';
import type { Alert } from '../api/types';
import { clock, fullTime, safeName } from '../format';
import { mayAct, now } from '../state/store';
import { Link, runPage } from './Link';
import { toast } from './Toast';
import { ApiError } from '../api/client';

async function acknowledge(alert: Alert): Promise<void> {
  try {
    await post(`alerts/${encodeURIComponent(alert.id)}/ack`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(`✕ ${error.problem.detail}`);
  }
}

/** One alert: rule, text, since when; what to do about it, where `full`. */
export function AlertRow({ alert, full = false }: { alert: Alert; full?: boolean }) {
  const over = alert.state === 'cleared';
  const bad = alert.level === 'error' && !over;
  return (
    <li class={over ? 'alert-row over' : 'alert-row'}>
      <span class={bad ? 'alert-mark error-text' : 'alert-mark'} aria-hidden="true">{over ? '' : alert.level === 'error' ? '✕' : '⚑'}</span>
      <strong class={bad ? 'alert-rule error-text' : 'alert-rule'}>
        {alert.rule}<span class="visually-hidden">, {alert.level}, {alert.state}</span>
      </strong>
      <span class="alert-text">
        {safeName(alert.text || alert.title)}
        {full && alert.remedy !== '' && !over && <span class="muted alert-remedy">{safeName(alert.remedy)}</span>}
        {full && (
          <span class="muted alert-remedy">
            <Link to={runPage(alert.run)} keep={false}>{safeName(alert.run)}</Link>
            {alert.step !== null && <> · <Link to={runPage(alert.run, 'steps', String(alert.step))} keep={false}>step {alert.step}</Link></>}
            {alert.replica !== null && <> · replica {safeName(alert.replica)}</>}
            {alert.count > 1 && <> · seen {alert.count} times</>}
          </span>
        )}
      </span>
      <time class="muted alert-time" title={fullTime(over ? alert.cleared_us : alert.first_us)}>
        {over ? `cleared ${clock(alert.cleared_us, now.value)}` : `since ${clock(alert.first_us, now.value)}`}
      </time>
      {alert.state === 'acked' && <span class="tag">acknowledged</span>}
      {!over && alert.snoozed !== null && (alert.snoozed === 'until_cleared' || alert.snoozed > now.value * 1000) && <span class="tag">snoozed</span>}
      {alert.state === 'firing' && mayAct.value && (
        <button type="button" class="small" aria-label={`Acknowledge ${alert.rule}`} onClick={() => void acknowledge(alert)}>Acknowledge</button>
      )}
    </li>
  );
}
