import { ApiError, apiUrl, request } from './client';
import type { StreamHost } from './events';

const name = 'deltascope.events';

/** The browser as the event stream sees it. Locks exist in secure contexts only; elsewhere each tab has a stream. */
export const browserHost: StreamHost = {
  open: (query) => new EventSource(apiUrl(`events${query}`), { withCredentials: true }),
  elect(lead) {
    if (!navigator.locks) return lead();
    // The promise never ends: the tab leads until it closes.
    void navigator.locks.request(scoped(), () => new Promise<never>(() => lead()));
  },
  channel: () => ('BroadcastChannel' in window && 'locks' in navigator ? new BroadcastChannel(scoped()) : null),
  probe: () => request('capabilities').then(
    () => 'ok',
    (error: unknown) => (error instanceof ApiError && error.problem.status === 401 ? 'refused' : 'away'),
  ),
  visible: () => document.visibilityState === 'visible',
  onVisibility: (changed) => document.addEventListener('visibilitychange', changed),
  onLeave: (leaving) => window.addEventListener('pagehide', leaving),
  now: () => Date.now(),
};

/** Two daemons behind one host differ by their base path. */
function scoped(): string {
  return `${name} ${new URL(document.baseURI).pathname}`;
}
