import type { ActPlan, Plan, PlannedObject } from '../../api/types';
import { Name } from '../../components/Name';
import { bytes, plural, safeName } from '../../format';
import { barsOf } from './model';

export function Facts({ plan }: { plan: Plan }) {
  return (
    <dl class="facts facts-left">
      {plan.facts.map(({ label, text }) => <><dt>{safeName(label)}</dt><dd>{safeName(text)}</dd></>)}
    </dl>
  );
}

/** The tensors that the new step changes, as bars of their changed share. */
export function Changes({ plan }: { plan: Plan }) {
  const bars = barsOf(plan.changes);
  if (bars.length === 0) return null;
  return (
    <section aria-label="What changes">
      <h3>What changes <span class="muted note">largest share of changed elements first; bars are parts of the largest</span></h3>
      <div class="change-box" tabIndex={0} role="group" aria-label="Changed tensors">
        <table class="changes" aria-label="Changed tensors">
          <thead class="visually-hidden"><tr><th scope="col">tensor</th><th scope="col">bar</th><th scope="col">share</th><th scope="col">elements</th></tr></thead>
          <tbody>
            {bars.map(({ name, width, share, counts }) => (
              <tr key={name}>
                <td class="mono"><Name text={name} limit={64} /></td>
                <td class="bar-cell" aria-hidden="true"><span class="bar" style={{ width: `${Math.max(1, 100 * width)}%` }} /></td>
                <td class="number"><strong>{share}</strong></td>
                <td class="number muted">{counts}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const sum = (objects: readonly PlannedObject[]) => objects.reduce((total, object) => total + object.bytes, 0);

function Objects({ word, objects, open }: { word: string; objects: PlannedObject[]; open?: boolean }) {
  if (objects.length === 0) return <p class="objects-none"><strong>{word}</strong> nothing</p>;
  const size = sum(objects);
  return (
    <details class="objects" open={open}>
      <summary><strong>{word}</strong> {plural(objects.length, 'object')}{size > 0 && `, ${bytes(size)}`}</summary>
      <ul>
        {objects.map(({ store, key, bytes: length }) => (
          <li key={`${store} ${key}`}><span class="mono">{safeName(store === null ? key : `${store} ${key}`)}</span><span class="muted">{length > 0 && bytes(length)}</span></li>
        ))}
      </ul>
    </details>
  );
}

/** Every object that is read, written or deleted. */
export function Touches({ act }: { act: ActPlan }) {
  return (
    <section aria-label="What is read, written and deleted">
      <h3>What is read, written and deleted</h3>
      <Objects word="Writes" objects={act.writes} open />
      <Objects word="Reads" objects={act.reads} />
      <Objects word="Deletes" objects={act.deletes} open />
      {act.beside_text !== '' && <p class="objects-none"><strong>Beside the run</strong> {safeName(act.beside_text)}</p>}
      {act.deletes.length === 0 && <p class="muted">Nothing is overwritten or deleted.</p>}
    </section>
  );
}

/** What is to be minded, and what nobody can know before. */
export function Doubts({ plan }: { plan: Plan }) {
  const act = plan.act;
  const known = new Set(act?.warnings.map(({ text }) => text));
  const warnings = [...(act?.warnings ?? []).map(({ text, remedy }) => [text, remedy].filter(Boolean).join(': ')), ...plan.warnings.filter((text) => !known.has(text))];
  return (
    <>
      {warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">{warnings.map((text) => <li key={text}><span aria-hidden="true">⚑</span> {safeName(text)}</li>)}</ul>
      )}
      {act && act.unknown.length > 0 && (
        <section aria-label="What cannot be known before">
          <h3>What cannot be known before</h3>
          <ul class="warnings">{act.unknown.map((text) => <li key={text}><span class="muted" aria-hidden="true">?</span> {safeName(text)}</li>)}</ul>
        </section>
      )}
    </>
  );
}
