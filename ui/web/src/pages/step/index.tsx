import { useLayoutEffect } from 'preact/hooks';
import { canDo, isNewest, openAct, openPlan, openRollBack } from '../../actions';
import { runPath } from '../../api/client';
import type { Form, Step, StepDetail, TensorCount } from '../../api/types';
import { Card } from '../../components/Card';
import { CliLine } from '../../components/CliLine';
import { Icon } from '../../components/Icon';
import { Link, runPage } from '../../components/Link';
import { Name } from '../../components/Name';
import { StateIcon, VerifyShield } from '../../components/StateIcon';
import { EmptyState, ErrorBanner, Loaded, ProblemText } from '../../components/states';
import { type Column, Table } from '../../components/Table';
import { ago, bytes, count, exact, fullTime, milliseconds, percent, plural, roleText, safeName, shape, unknown } from '../../format';
import { nameOf } from '../journal/names';
import { epoch, setView, view } from '../../state/cursor';
import { stepOf } from '../../search';
import { useResource } from '../../state/resource';
import { capabilities, detail, mayAct, now } from '../../state/store';
import { whyReadOnly } from '../../chrome/TopBar';
import './step.css';

/** All that is known of one step. */
export default function StepPage({ runId = '', step = '' }: { runId?: string; step?: string }) {
  const id = step.includes(':') || view.value.epoch === null ? step : `${view.value.epoch}:${step}`;
  const loaded = useResource<StepDetail>(runPath(runId, 'steps', id), ['step'], runId);
  useLayoutEffect(() => {
    const meant = stepOf(step);
    if (meant) setView({ b: meant.step, ...(meant.epoch === null || meant.epoch === epoch.peek() ? {} : { epoch: meant.epoch }) });
  }, [step]);
  return (
    <>
      {!loaded.data && <h1 class="visually-hidden">Step {safeName(step)}</h1>}
      <Loaded from={loaded} rows={12}>{(data) => <Facts runId={runId} data={data} />}</Loaded>
    </>
  );
}

function Facts({ runId, data }: { runId: string; data: StepDetail }) {
  const { step, tensors, cli } = data;
  const first = step.problems.find((problem) => !problem.notice);
  return (
    <div class="step-page">
      <header class="step-head">
        <h1>Step {step.step}</h1>
        <span class="tag">{step.kind.replace('_', ' ')}</span>
        {step.role !== undefined && <span class="tag">{roleText(step.role)}</span>}
        <StateIcon state={step.state} />
        <VerifyShield verified={step.verified} word />
        {step.refs?.map((word) => <RefTag key={word} runId={runId} word={word} />)}
        {step.restores !== undefined && <span>restores <Link to={runPage(runId, 'steps', `${step.epoch}:${step.restores}`)}>{step.restores}</Link></span>}
        <span class="spring" />
        <Neighbors runId={runId} step={step} />
        <Acts runId={runId} step={step} />
      </header>
      {first && (
        <ErrorBanner
          what={<><span class="error-text">✕ {step.restorable ? `Step ${step.step} has a problem.` : `Step ${step.step} cannot be rebuilt.`}</span> {safeName(first.text)}</>}
          why={safeName([first.where, first.remedy].filter(Boolean).join('. '))} code={first.code}
        />
      )}
      <div class="step-cards">
        <Card title="Step">
          <dl class="facts card-body">
            <dt>Kind</dt><dd>{step.base_step === null ? step.kind.replace('_', ' ') : <>delta on <Link to={runPage(runId, 'steps', `${step.epoch}:${step.base_step}`)}>{step.base_step}</Link></>}</dd>
            <dt>Epoch</dt><dd>{step.epoch}</dd>
            <dt>Name</dt><dd class="mono"><Name text={step.name} /></dd>
            {step.id !== undefined && <><dt>Id</dt><dd class="mono"><Name text={step.id} /></dd></>}
            <dt>Published</dt><dd title={fullTime(step.published_at)}>{ago(step.published_at, now.value)}</dd>
            <dt>Paused</dt><dd>{milliseconds(step.pause_ms)}</dd>
          </dl>
        </Card>
        <Card title="What changed">
          <dl class="facts card-body">
            <dt>Changed</dt><dd>{percent(step.changed_frac)}</dd>
            <dt>Elements</dt><dd title={exact(step.changed_elems)}>{count(step.changed_elems)} of {count(step.total_elems)}</dd>
            <dt>Against the step before</dt><dd title={exact(step.changed_vs_prev_elems)}>{count(step.changed_vs_prev_elems)}</dd>
            <dt>Claimed by its header</dt><dd title={exact(step.claimed_elems)}>{count(step.claimed_elems)}</dd>
            <dt>Tensors changed</dt><dd>{tensorsChanged(tensors)}</dd>
          </dl>
        </Card>
        <Card title="Bytes">
          <dl class="facts card-body">
            <dt>On the wire</dt><dd title={exact(step.wire_bytes)}>{bytes(step.wire_bytes)}</dd>
            <dt>Full version</dt><dd>{bytes(detail.value?.kpi.full_bytes)}</dd>
            <dt>To materialize</dt><dd>{step.restorable ? `${bytes(step.restore.bytes)}, ${plural(step.restore.deltas, 'delta')}` : <span class="error-text">✕ not possible</span>}</dd>
            {step.restore.blocked_by !== null && <><dt>Blocked by</dt><dd><Link to={runPage(runId, 'steps', `${step.epoch}:${step.restore.blocked_by}`)}>step {step.restore.blocked_by}</Link>{step.restore.reason !== null && `, ${safeName(step.restore.reason)}`}</dd></>}
            <dt>Missing numbers on the way</dt><dd>{step.proven ? 'none' : '⚑ yes, and nothing tells what was in them'}</dd>
          </dl>
        </Card>
      </div>
      {step.problems.length > 0 && (
        <Card title={first ? 'Problems' : 'Notices'} note={String(step.problems.length)}>
          <div class="card-body">{step.problems.map((problem, i) => <ProblemText key={i} problem={problem} />)}</div>
        </Card>
      )}
      <Card title="Objects" note={plural(step.objects.length, 'object')}>
        {step.objects.length === 0 ? <EmptyState title="No object belongs to this step" /> : (
          <Table
            label="Objects" rows={step.objects} id={(object) => object.key} {...(step.objects.length > 20 ? { height: 280 } : {})}
            columns={[
              { id: 'key', head: 'key', cell: (o) => <span class="mono"><Name text={o.key} limit={120} /></span>, key: (o) => o.key },
              { id: 'size', head: 'size', number: true, cell: (o) => <span title={exact(o.size)}>{bytes(o.size)}</span>, key: (o) => o.size },
              { id: 'modified', head: 'modified', number: true, cell: (o) => <span title={fullTime(o.modified_at)}>{ago(o.modified_at, now.value)}</span>, key: (o) => o.modified_at },
            ]}
          />
        )}
      </Card>
      {step.forms.length > 0 && (
        <Card title="Ways to this step" note={plural(step.forms.length, 'form')}>
          <Table label="Ways to this step" rows={step.forms} columns={forms} id={(form) => form.name} />
        </Card>
      )}
      <Card title="Tensors" note={tensors.length === 0 ? '' : plural(tensors.length, 'tensor')}>
        {tensors.length === 0
          ? <EmptyState title="Counts of tensors are known once the step was replayed" />
          : <Table label="Tensors" rows={tensors} columns={columns} id={(t) => t.name} height={420} sort={{ column: 'changed', descending: true }} />}
      </Card>
      <Card title="In a terminal">
        <div class="card-body cli-lines"><CliLine command={cli.show} /><CliLine command={cli.verify} /><CliLine command={cli.materialize} /></div>
      </Card>
    </div>
  );
}

/** Of those whose counts are known. */
export function tensorsChanged(tensors: readonly TensorCount[]): string {
  const known = tensors.filter(({ changed_elems: n }) => n !== null);
  return known.length === 0 ? unknown : `${exact(known.filter((t) => t.changed_elems! > 0).length)} of ${exact(known.length)}`;
}

const share = (t: TensorCount) => (t.changed_elems === null || t.total_elems === 0 ? null : t.changed_elems / t.total_elems);

const vouchers: Record<Form['evidence'], string> = {
  digest: 'digests', root: 'root', anchor: 'next anchor', weak: 'weak digests', base: 'base given', first_sight: 'first sight', none: 'nothing',
};

const forms: Column<Form>[] = [
  { id: 'name', head: 'form', cell: (f) => <span class="mono"><Name text={f.name} limit={90} /></span>, key: (f) => f.name },
  { id: 'on', head: 'builds on', number: true, cell: (f) => (f.base_step === null ? 'complete' : `step ${f.base_step}`), key: (f) => f.base_step },
  { id: 'size', head: 'size', number: true, cell: (f) => <span title={exact(f.wire_bytes)}>{bytes(f.wire_bytes)}</span>, key: (f) => f.wire_bytes },
  {
    id: 'restore', head: 'to rebuild', number: true, narrow: true, key: (f) => f.restore.bytes,
    cell: (f) => (f.restore.reason === null ? `${bytes(f.restore.bytes)}, ${plural(f.restore.deltas, 'delta')}` : unknown),
  },
  { id: 'evidence', head: 'vouched for by', cell: (f) => vouchers[f.evidence], key: (f) => f.evidence, narrow: true },
  {
    id: 'use', head: 'use',
    cell: (f) => (f.restore.reason !== null ? <span class="error-text">✕ {safeName(f.restore.reason)}</span>
      : f.used ? 'this one is used' : f.state === 'trained' ? 'trained state' : 'stands by'),
  },
];

const columns: Column<TensorCount>[] = [
  { id: 'name', head: 'tensor', cell: (t) => <span class="mono"><Name text={t.name} limit={90} /></span>, key: (t) => t.name },
  { id: 'dtype', head: 'dtype', cell: (t) => safeName(t.dtype), key: (t) => t.dtype, narrow: true },
  { id: 'shape', head: 'shape', cell: (t) => shape(t.shape), narrow: true },
  { id: 'total', head: 'elements', number: true, cell: (t) => <span title={exact(t.total_elems)}>{count(t.total_elems)}</span>, key: (t) => t.total_elems, narrow: true },
  { id: 'changed', head: 'changed', number: true, cell: (t) => exact(t.changed_elems), key: (t) => t.changed_elems },
  { id: 'share', head: 'share', number: true, cell: (t) => percent(share(t)), key: share },
];

/** A word of the step; those who may remove it can. */
function RefTag({ runId, word }: { runId: string; word: string }) {
  const ref = detail.value?.refs.find((known) => known.word === word);
  const kind = ref?.pin ? 'unpin' : 'unref';
  return (
    <span class="tag ref-tag">
      <Name text={word} limit={40} />
      {ref && canDo(kind) && (
        <button type="button" aria-label={`Remove ${word}…`} title="Remove…" onClick={() => openAct(kind, runId, { name: nameOf(ref) })}><Icon name="close" size={12} /></button>
      )}
    </span>
  );
}

function Neighbors({ runId, step }: { runId: string; step: Step }) {
  const [first, last] = [detail.value?.first_step ?? step.step, detail.value?.last_step ?? step.step];
  const link = (to: number, word: string, icon: 'left' | 'right') =>
    to >= first && to <= last && (
      <Link class="button icon-button" to={runPage(runId, 'steps', `${step.epoch}:${to}`)} set={{ b: to }} label={`${word} step, ${to}`}><Icon name={icon} /></Link>
    );
  return <nav aria-label="Neighbors" class="neighbors">{link(step.step - 1, 'Previous', 'left')}{link(step.step + 1, 'Next', 'right')}</nav>;
}

function Acts({ runId, step }: { runId: string; step: Step }) {
  if (!mayAct.value) {
    return <span class="muted acts-off"><Icon name="lock" size={14} /> {whyReadOnly(capabilities.value?.read_only ?? true)}</span>;
  }
  return (
    <>
      <button type="button" onClick={() => openPlan('verify', runId, step.epoch, step.step)}><Icon name="shield" /> Verify…</button>
      <button
        type="button" class="primary" disabled={!step.restorable} title={step.restorable ? '' : 'This step cannot be rebuilt'}
        onClick={() => openPlan('materialize', runId, step.epoch, step.step)}
      >
        <Icon name="download" /> Materialize…
      </button>
      {canDo('rollback') && !isNewest(step.epoch, step.step) && (
        <button type="button" disabled={!step.restorable} onClick={() => openRollBack(runId, step.epoch, step.step)}><Icon name="undo" /> Roll back…</button>
      )}
    </>
  );
}
