import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { actions, isEnabled, moreActions, sheet } from '../actions';
import { runPath } from '../api/client';
import type { TensorTable } from '../api/types';
import { Dialog } from '../components/Dialog';
import { runPage } from '../components/Link';
import { safeName, shorten } from '../format';
import { navigate } from '../router';
import { best, type Hit, stepOf, tensorHits } from '../search';
import { emptyView, setView, view, viewQuery, writeView } from '../state/cursor';
import { useResource } from '../state/resource';
import { openRun, runs } from '../state/store';

/** Steps, tensors, runs, pages and commands by name. */
export function Search() {
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const run = openRun.value;
  const wantsTensors = run !== null && query.trim().length >= 2;
  const tensors = useResource<TensorTable>(wantsTensors ? runPath(run, 'tensors') : null).data?.tensors ?? [];
  const hits = find(query.trim(), run, tensors);
  const close = () => (sheet.value = null);

  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: 'nearest' }), [active]);

  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    close();
    hit.open();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setActive(Math.min(hits.length - 1, active + 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(0, active - 1));
    else if (event.key === 'Enter') open(hits[active]);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title="Search" onClose={close} class="search">
      <input
        ref={input} type="text" role="combobox" aria-label="Step, tensor, run or command" aria-expanded="true"
        aria-controls="hits" aria-activedescendant={hits.length > 0 ? `hit-${active}` : undefined} autocomplete="off"
        placeholder="Step, tensor, run or command" value={query} onKeyDown={onKeyDown}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
        }}
      />
      <ul id="hits" role="listbox" aria-label="Hits" ref={list}>
        {hits.map((hit, i) => (
          <li key={`${hit.kind} ${hit.text}`} id={`hit-${i}`} role="option" aria-selected={i === active} onClick={() => open(hit)}>
            <span class="muted">{hit.kind}</span>
            <bdi>{shorten(hit.text)}</bdi>
            {hit.shortcut !== undefined && <kbd>{hit.shortcut}</kbd>}
          </li>
        ))}
      </ul>
      {hits.length === 0 && <p class="muted" role="status">Nothing is called like this.</p>}
    </Dialog>
  );
}

function find(query: string, run: string | null, tensors: TensorTable['tensors']): Hit[] {
  const commands: Hit[] = [...actions, ...moreActions()].filter((action) => action.id !== 'search' && isEnabled(action)).map((action) => ({
    kind: action.id.startsWith('go.') ? 'page' : 'command', text: action.text, open: action.act,
    ...(action.shortcut === undefined ? {} : { shortcut: action.shortcut }),
  }));
  const others: Hit[] = (runs.value?.runs ?? []).map(({ id, name }) => ({
    kind: 'run', text: safeName(name),
    open: () => navigate(runPage(id), writeView({ ...emptyView, tv: view.value.tv, theme: view.value.theme })),
  }));
  if (query === '') return [...commands.slice(0, 12), ...others.slice(0, 8)];
  const hits = best(query, [...commands, ...others], 12);
  const step = stepOf(query);
  if (run === null) return hits;
  const named = best(query, tensorHits(tensors, ({ id }) => {
    navigate(runPage(run, 'heat'), viewQuery.value === '' ? `?tensor=${id}` : `${viewQuery.value}&tensor=${id}`);
  }), 12);
  if (!step) return [...hits, ...named];
  const text = step.epoch === null ? `${step.step}` : `${step.epoch}:${step.step}`;
  return [
    { kind: 'step', text: `Go to step ${text}`, open: () => setView({ b: step.step, ...(step.epoch === null ? {} : { epoch: step.epoch }) }) },
    { kind: 'step', text: `Open step ${text}`, open: () => navigate(runPage(run, 'steps', text), viewQuery.value) },
    ...hits, ...named,
  ];
}
