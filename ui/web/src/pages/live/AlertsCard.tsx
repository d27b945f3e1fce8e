import { AlertRow } from '../../components/AlertRow';
import { Card } from '../../components/Card';
import { Link } from '../../components/Link';
import { plural } from '../../format';
import { EmptyState } from '../../components/states';
import { phone } from '../../state/media';
import { alerts, detail } from '../../state/store';
import { ProblemText } from '../../components/states';

const shownMost = 6;

/** Alerts and problems of one run; on a phone only what fires. */
export function AlertsCard({ runId }: { runId: string }) {
  const all = (alerts.value?.alerts ?? []).filter(({ run }) => run === runId);
  const firing = all.filter(({ state }) => state !== 'cleared');
  const list = (phone.value ? firing : all).slice(0, shownMost);
  const problems = phone.value ? [] : (detail.value?.problems ?? []);
  const notices = problems.filter(({ notice }) => notice).length;
  const counts = [
    ...(problems.length > notices ? [plural(problems.length - notices, 'problem')] : []),
    ...(notices > 0 ? [plural(notices, 'notice')] : []),
  ];
  if (phone.value && list.length === 0) return null;
  return (
    <Card
      title="Alerts" note={`${firing.length} firing, ${all.length - firing.length} cleared`} class="alerts-card"
      tools={<Link to="alerts">All alerts</Link>}
    >
      {list.length === 0 && problems.length === 0 && <EmptyState title="No rule has fired" />}
      <ul class="alert-list">{list.map((alert) => <AlertRow key={alert.id} alert={alert} />)}</ul>
      {problems.length > 0 && (
        <details class="card-body">
          <summary>{counts.join(' and ')} in what is published</summary>
          {problems.slice(0, 50).map((problem, i) => <ProblemText key={i} problem={problem} />)}
          {problems.length > 50 && <p class="muted">and {problems.length - 50} more, see the lineage</p>}
        </details>
      )}
    </Card>
  );
}
