import type { RunDetail } from '../../api/types';
import { Card } from '../../components/Card';
import { EmptyState } from '../../components/states';
import { clock, fullTime, safeName, shorten } from '../../format';
import { now } from '../../state/store';

/** What happened, newest first. */
export function EventsCard({ run }: { run: RunDetail }) {
  return (
    <Card title="Events" tools={<span>newest first</span>} class="feed">
      {run.feed.length === 0 ? <EmptyState title="Nothing has happened yet" /> : (
        <ol class="feed-list" tabIndex={0} aria-label="Events, newest first">
          {run.feed.map((item, i) => (
            <li key={`${item.t_us} ${item.text} ${i}`}>
              <time class="muted" dateTime={new Date(item.t_us / 1000).toISOString()} title={fullTime(item.t_us)}>{clock(item.t_us, now.value)}</time>
              <span class={item.kind === 'problem' ? 'error-text' : ''}>
                {item.kind === 'problem' && '✕ '}{shorten(safeName(item.text), 200)}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
