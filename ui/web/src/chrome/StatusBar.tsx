import { StaleBadge } from '../components/states';
import { backendText, age, bytes, count, zone } from '../format';
import { capabilities, detail, heardAt, now, openRun, polling } from '../state/store';

/** What following the open run moves over the network, and how old the last whole listing is. */
function StoreReadout() {
  const run = openRun.value !== null ? detail.value : null;
  const meter = run?.store_meter;
  if (!run || !meter) return null;
  const title = `${meter.requests} requests, ${meter.retries} of them repeated; ${bytes(meter.bytes_from_cache)} were read from the cache`;
  const listed = run.listed_us !== null ? (now.value - run.listed_us / 1000) / 1000 : null;
  return (
    <>
      <span title={title}>{count(meter.requests)} requests, {bytes(meter.bytes_in)} in, {bytes(meter.bytes_out)} out</span>
      {listed !== null && (
        <span title="Overwritten and deleted objects show in a whole listing, which is made every ten minutes">
          all listed {age(Math.max(0, listed))} ago
        </span>
      )}
    </>
  );
}

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
      {polling.value && <span title="The daemon takes no more event streams; close other pages that show it">looks every few seconds</span>}
      <StoreReadout />
      {queue !== null && <span>{queue} not checked yet</span>}
      {backends.length > 0 && <span>engine {backends.map(backendText).join(' + ')}</span>}
      <span class="spring" />
      <span>{time.toLocaleTimeString('en-GB')} {zone(time)}</span>
    </footer>
  );
}
