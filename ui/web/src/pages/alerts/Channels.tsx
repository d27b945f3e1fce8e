import { useEffect } from 'preact/hooks';
import { ApiError, get } from '../../api/client';
import type { AlertChannel, AlertList } from '../../api/types';
import { Card } from '../../components/Card';
import { EmptyState } from '../../components/states';
import { ago, exact, fullTime, plural, safeName } from '../../format';
import { alerts, now } from '../../state/store';

const askMs = 5_000; // no event tells what becomes of messages

async function refresh(signal: AbortSignal): Promise<void> {
  try {
    const { channels } = await get<AlertList>('alerts', signal);
    if (alerts.value && !signal.aborted) alerts.value = { ...alerts.value, channels };
  } catch (error) {
    if (!(error instanceof ApiError) && !signal.aborted) throw error; // that there is no contact is said elsewhere
  }
}

/** Where messages go, and whether they arrive. */
export function Channels({ channels }: { channels: AlertChannel[] }) {
  const any = channels.length > 0;
  useEffect(() => {
    if (!any) return;
    const abort = new AbortController();
    void refresh(abort.signal);
    const timer = setInterval(() => void refresh(abort.signal), askMs);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [any]);
  return (
    <Card title="Channels" note="where alerts are sent">
      {any ? (
        <ul class="channels">
          {channels.map((channel, place) => (
            <li key={place}>
              <strong>{channel.kind}</strong> {safeName(channel.name)} <span class="muted">from level {channel.min_level}{sentText(channel)}</span>
              {channel.failed > 0 && <Failure channel={channel} />}
            </li>
          ))}
        </ul>
      ) : (
        <EmptyState title="Alerts are shown here only">
          <p>Start the daemon with a channel for messages to a webhook, Slack or Discord.</p>
        </EmptyState>
      )}
    </Card>
  );
}

const sentText = ({ sent }: AlertChannel) => (sent > 0 ? ` · ${exact(sent)} sent` : '');

/** "✕ last message failed 3:07 ago: …"; once messages arrive again, that some have not. */
export function failureText(channel: AlertChannel, nowMs: number): string {
  const when = ago(channel.last_failed_us, nowMs);
  const why = safeName(channel.last_failure ?? '');
  return channel.last_arrived === false
    ? `✕ last message failed ${when}: ${why}`
    : `${plural(channel.failed, 'message')} failed, the last ${when}: ${why}`;
}

function Failure({ channel }: { channel: AlertChannel }) {
  return (
    <span class={channel.last_arrived === false ? 'error-text' : 'muted'} title={fullTime(channel.last_failed_us)}>
      {' · '}{failureText(channel, now.value)}
    </span>
  );
}
