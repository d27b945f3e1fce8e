import { StaleBadge } from '../components/states';
import { age, zone } from '../format';
import { capabilities, detail, heardAt, now, openRun } from '../state/store';

const backendNames: Record<string, string> = { avx2: 'AVX2', avx512: 'AVX-512', cuda: 'CUDA', scalar: 'scalar' };

/** Contact, verification and the engine, at the bottom of each page. */
export function StatusBar() {
  const time = new Date(now.value);
  const heard = heardAt.value;
  const quiet = heard === null ? null : (now.value - heard) / 1000;
  const kpi = openRun.value !== null ? detail.value?.kpi : undefined;
  const queue = kpi?.latest != null && kpi.verified_to !== null ? Math.max(0, kpi.latest - kpi.verified_to) : null;
  const backends = capabilities.value?.backends ?? [];
  return (
    <footer class="statusbar">
      <span class={quiet !== null && quiet < 40 ? 'contact' : 'contact lost'}>
        {quiet === null ? 'connecting' : `contact ${age(quiet)} ago`}
      </span>
      <StaleBadge />
      {queue !== null && <span>{queue} not checked yet</span>}
      {backends.length > 0 && <span>engine {backends.map((name) => backendNames[name] ?? name).join(' + ')}</span>}
      <span class="spring" />
      <span>{time.toLocaleTimeString('en-GB')} {zone(time)}</span>
    </footer>
  );
}
