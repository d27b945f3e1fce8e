import type { Replica, RollBackReport } from '../../api/types';
import { Link, runPage } from '../../components/Link';
import { Name } from '../../components/Name';
import { safeName, unknown } from '../../format';
import { stateOf } from '../../pages/live/replicaState';
import { detail } from '../../state/store';
import { loadedText, outcomeText } from './model';

/** What was done, and who has loaded it, as the replicas say. */
export function Outcome({ run, report, onLeave }: { run: string; report: RollBackReport; onLeave: () => void }) {
  const known = detail.value?.id === run ? detail.value : null;
  return (
    <>
      <p class="outcome"><span class="ok-text" aria-hidden="true">✓</span> {outcomeText(report)}</p>
      <p onClick={onLeave}><Link to={runPage(run, 'steps', String(report.step))} set={{ b: report.step }}>Open step {report.step}</Link></p>
      {report.keys.length > 0 && (
        <section aria-label="What was written">
          <h3>What was written</h3>
          <ul class="written mono">{report.keys.map((key) => <li key={key}>{safeName(key)}</li>)}</ul>
        </section>
      )}
      <section aria-label="Who has loaded it">
        <h3>Who has loaded it</h3>
        <p aria-live="polite">{known === null ? 'Who has loaded it is not known on this page; the page Live of the run shows its replicas.' : loadedText(known.replicas, report.step)}</p>
        {known !== null && known.replicas.length > 0 && <Replicas replicas={known.replicas} step={report.step} />}
      </section>
    </>
  );
}

function Replicas({ replicas, step }: { replicas: Replica[]; step: number }) {
  return (
    <table class="followers" aria-label="Replicas">
      <thead><tr><th scope="col">replica</th><th scope="col" class="number">says it serves</th><th scope="col">state</th></tr></thead>
      <tbody>
        {replicas.map((replica) => {
          const { mark, word } = stateOf(replica);
          return (
            <tr key={replica.id}>
              <td><Name text={replica.id} limit={40} /></td>
              <td class="number">{replica.step === step ? <strong>{replica.step}</strong> : (replica.step ?? unknown)}</td>
              <td><span aria-hidden="true">{mark}</span> {safeName(word)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
