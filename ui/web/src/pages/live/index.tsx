import type { ComponentType } from 'preact';
import { Card } from '../../components/Card';
import { lazy } from '../../components/lazy';
import { Link, runPage } from '../../components/Link';
import { EmptyState, ErrorBanner, Skeleton } from '../../components/states';
import { safeName } from '../../format';
import { epoch } from '../../state/cursor';
import { phone } from '../../state/media';
import { detail, failure } from '../../state/store';
import { AlertsCard } from './AlertsCard';
import { Charts } from './Charts';
import { EventsCard } from './EventsCard';
import { HealthTile } from './HealthTile';
import { Newest } from './Newest';
import { ReplicasCard } from './ReplicasCard';
import { Tiles } from './Tiles';
import './live.css';

type Canvas = ComponentType<{ runId: string; epoch: number }>;
const canvases = import.meta.glob<{ default: Canvas }>('../../canvas/{MiniHeatmap,SyncBars}.tsx');
const canvas = (name: string) => lazy(async () => (await canvases[`../../canvas/${name}.tsx`]?.()) ?? { default: () => null });
const MiniHeatmap = canvas('MiniHeatmap');
const SyncBars = canvas('SyncBars');

/** What a run is doing now. */
export default function Live({ runId = '' }: { runId?: string }) {
  const run = detail.value?.id === runId ? detail.value : null;
  if (!run) return failure.value ? null : <Skeleton rows={12} />;
  const tileSaysIt = run.steps > 0 && run.health.state === 'no_contact';
  const error = run.error && !tileSaysIt && (
    <ErrorBanner what={`✕ ${safeName(run.error.text)}`} why={safeName([run.error.where, run.error.remedy].filter(Boolean).join(' · '))} code={run.error.code} />
  );
  if (error && run.steps === 0) return error;
  if (run.steps === 0) {
    return (
      <EmptyState title="Nothing is published yet">
        <p>Watching <bdi>{safeName(run.source)}</bdi>; the first step appears here by itself.</p>
      </EmptyState>
    );
  }
  return (
    <div class="live-page">
      {error}
      <HealthTile run={run} />
      <Tiles run={run} />
      {phone.value && <AlertsCard runId={runId} />}
      <Charts run={run} />
      {phone.value ? (
        <Newest runId={runId} last={run.last_step ?? 0} />
      ) : (
        <>
          <Card
            title="Where it changed" note="share of elements per layer and step, element-weighted mean, log scale" class="wide"
            tools={<Link to={runPage(runId, 'heat')}>Open heatmap</Link>}
          >
            <MiniHeatmap runId={runId} epoch={epoch.value} />
          </Card>
          <div class="two">
            <SyncBars runId={runId} epoch={epoch.value} />
            <ReplicasCard run={run} />
            <EventsCard run={run} />
            <AlertsCard runId={runId} />
          </div>
        </>
      )}
    </div>
  );
}
