import { runPath } from '../api/client';
import type { Step, StepPage } from '../api/types';
import { StaleBadge } from '../components/states';
import { backendText, age, bytes, count, zone } from '../format';
import { useResource } from '../state/resource';
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

/** "5+": there are more. Empty: none. What cannot be rebuilt does not wait to be checked. */
export function uncheckedText({ steps, next_cursor }: StepPage): string {
  const left = steps.filter((step) => step.kind !== 'gap' && (step as Step).restorable && (step as Step).verified === null).length;
  return left === 0 && next_cursor === null ? '' : `${left}${next_cursor === null ? '' : '+'} not checked yet`;
}

/** How many versions wait to be checked, behind the newest one that was found sound. */
function Unchecked() {
  const run = openRun.value !== null ? detail.value : null;
  const { latest = null, latest_epoch: epoch = null, verified_to: from = null } = run?.kpi ?? {};
  const wanted = run !== null && latest !== null && from !== null && from < latest;
  const path = wanted ? `${runPath(run.id, 'steps')}?epoch=${epoch ?? 0}&from=${from + 1}&to=${latest}` : null;
  const { data } = useResource<StepPage>(path, ['step'], run?.id);
  const text = wanted && data !== null ? uncheckedText(data) : '';
  return text === '' ? null : <span>{text}</span>;
}

/** Contact, verification and the engine, at the bottom of each page. */
export function StatusBar() {
  const time = new Date(now.value);
  const heard = heardAt.value;
  const quiet = heard === null ? null : (now.value - heard) / 1000;
  const backends = capabilities.value?.backends ?? [];
  return (
    <footer class="statusbar">
      <span class={quiet !== null && quiet < 40 ? 'contact' : 'contact lost'}>
        {quiet === null ? 'connecting' : `contact ${age(quiet)} ago`}
      </span>
      <StaleBadge />
      {polling.value && <span title="The daemon takes no more event streams; close other pages that show it">looks every few seconds</span>}
      <StoreReadout />
      <Unchecked />
      {backends.length > 0 && <span>engine {backends.map(backendText).join(' + ')}</span>}
      <span class="spring" />
      <span>{time.toLocaleTimeString('en-GB')} {zone(time)}</span>
    </footer>
  );
}
