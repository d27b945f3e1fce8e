import { signal } from '@preact/signals';
import { runPage } from './components/Link';
import { match, navigate, place } from './router';
import { follow, newest, setView, stepA, stepB, view, viewQuery } from './state/cursor';
import type { ActInfo, ActValue } from './api/types';
import { acts, detail, generation, mayAct, openRun } from './state/store';
import { chooseTheme, theme } from './state/theme';

/** Everything that can be done by key or by name. Buttons, the palette and the list of shortcuts come from here. */
export interface Action {
  id: string;
  text: string;
  shortcut?: string; // "g l" is two keys one after the other
  enabled?: () => boolean;
  act: () => void;
  cli?: (source: string, step: string) => string; // the command that does the same
}

/** Which sheet is open. */
export const sheet = signal<
  | null | { name: 'search' } | { name: 'keys' }
  | { name: 'plan'; kind: 'verify' | 'materialize'; run: string; step: string }
  | { name: 'rollback'; kind: 'rollback' | 'undo'; run: string; step: string | null } // no step: what is newest is undone
  | { name: 'act'; kind: string; run: string; args: Record<string, ActValue> }
>(null);

/** The newest step has nothing behind it that could be rolled back. */
export const isNewest = (epoch: number, step: number | null) => step === newest.value?.step && epoch === newest.value?.epoch;

const inRun = () => openRun.value !== null;
const atStep = () => inRun() && stepB.value !== null;

function page(id: string, text: string, key: string, ...parts: string[]): Action {
  return {
    id: `go.${id}`, text, shortcut: `g ${key}`, enabled: inRun,
    act: () => openRun.value !== null && navigate(runPage(openRun.value, ...parts), viewQuery.value),
  };
}

function general(path: string, text: string, key: string): Action {
  return { id: `go.${path || 'runs'}`, text, shortcut: `g ${key}`, act: () => navigate(path, viewQuery.value) };
}

/** Moves B; it stays within the run. */
function move(by: number): void {
  const { first_step: first, last_step: last } = detail.value ?? {};
  if (stepB.value === null) return;
  const b = Math.max(first ?? 0, Math.min(last ?? Infinity, stepB.value + by));
  setView({ b });
  if (match(place.value.path)?.page === 'step' && openRun.value !== null) {
    navigate(runPage(openRun.value, 'steps', String(b)), viewQuery.value);
  }
}

/** Opens the sheet that shows what an act on step B would do. */
export function openPlan(kind: 'verify' | 'materialize', run: string, epoch: number, step: number): void {
  sheet.value = { name: 'plan', kind, run, step: `${epoch}:${step}` };
}

/** Opens the sheet that shows what a roll back to a step would do. */
export function openRollBack(run: string, epoch: number, step: number): void {
  sheet.value = { name: 'rollback', kind: 'rollback', run, step: `${epoch}:${step}` };
}

export function openUndo(run: string): void {
  sheet.value = { name: 'rollback', kind: 'undo', run, step: null };
}

/** Opens the sheet of an act that is made from its fields; `args` are filled in. */
export function openAct(kind: string, run: string, args: Record<string, ActValue>): void {
  sheet.value = { name: 'act', kind, run, args };
}

/** Opens the sheet that shows what would be removed of what a stopped task left. */
export function openDiscard(run: string, destination: string): void {
  const end = destination.lastIndexOf('/');
  openAct('discard', run, { folder: destination.slice(0, end), name: destination.slice(end + 1) });
}

/** Whether the daemon has an act, and we may do it. */
export const canDo = (kind: string): boolean => mayAct.value && (acts.value ?? []).some((act) => act.kind === kind);

const withOwnSheet = ['materialize', 'verify', 'diff', 'rollback', 'undo'];

const isOnStep = ({ fields }: ActInfo) => fields.some(({ name, type, required }) => name === 'step' && type === 'step' && required);

/** Acts whose sheets are made from their fields. */
const actsByFields = () => (mayAct.value ? (acts.value ?? []).filter(({ kind }) => !withOwnSheet.includes(kind)) : []);

/** Acts by fields on one step: names, pins, notes, and what the daemon adds to them. */
export const stepActs = (): ActInfo[] => actsByFields().filter(isOnStep);

/** The acts by fields that the daemon offers for the open run; one on a step is about step B. */
export function moreActions(): Action[] {
  return actsByFields().map((info) => ({
    id: info.kind, text: `${info.title}…`, enabled: isOnStep(info) ? atStep : inRun,
    act: () => openRun.value !== null && openAct(info.kind, openRun.value, isOnStep(info) ? { step: `${epochOfB()}:${stepB.value}` } : {}),
  }));
}

const epochOfB = () => view.value.epoch ?? newest.value?.epoch ?? 0;

function rollBackToB(): void {
  if (openRun.value !== null && stepB.value !== null) openRollBack(openRun.value, epochOfB(), stepB.value);
}

function actOnB(kind: 'verify' | 'materialize'): void {
  if (openRun.value !== null && stepB.value !== null) openPlan(kind, openRun.value, epochOfB(), stepB.value);
}

export const actions: Action[] = [
  { id: 'search', text: 'Search', shortcut: '/', act: () => (sheet.value = { name: 'search' }) },
  { id: 'keys', text: 'Show all shortcuts', shortcut: '?', act: () => (sheet.value = { name: 'keys' }) },
  general('', 'Runs', 'r'),
  page('live', 'Live', 'l'),
  page('heatmap', 'Heatmap', 'h', 'heat'),
  page('timeline', 'Timeline', 't', 'timeline'),
  page('lineage', 'Lineage', 'i', 'lineage'),
  page('diff', 'Diff', 'd', 'diff'),
  page('bucket', 'Bucket', 'b', 'bucket'),
  page('journal', 'Journal', 'j', 'journal'),
  {
    id: 'go.step', text: 'Open step B', shortcut: 'g s', enabled: atStep,
    act: () => openRun.value !== null && stepB.value !== null && navigate(runPage(openRun.value, 'steps', String(stepB.value)), viewQuery.value),
  },
  general('tasks', 'Tasks', 'k'),
  general('alerts', 'Alerts', 'a'),
  general('about', 'About', 'o'),
  { id: 'previous', text: 'Previous step', shortcut: '[', enabled: atStep, act: () => move(-1) },
  { id: 'next', text: 'Next step', shortcut: ']', enabled: atStep, act: () => move(1) },
  { id: 'follow', text: 'Follow the newest step', shortcut: 'f', enabled: () => atStep() && !follow.value, act: () => setView({ b: null }) },
  { id: 'setA', text: 'Compare with B: set A here', shortcut: 'c', enabled: atStep, act: () => setView({ a: stepB.value }) },
  {
    id: 'swap', text: 'Swap A and B', shortcut: 'x', enabled: () => stepA.value !== null && atStep(),
    act: () => setView({ a: stepB.value, b: stepA.value }),
  },
  { id: 'range', text: 'Reset the range', shortcut: '0', enabled: () => view.value.range !== null, act: () => setView({ range: null }) },
  {
    id: 'verify', text: 'Verify step B…', shortcut: 'e', enabled: () => atStep() && mayAct.value, act: () => actOnB('verify'),
    cli: (source, step) => `deltascope verify ${source}@${step}`,
  },
  {
    id: 'materialize', text: 'Materialize step B…', shortcut: 'm', enabled: () => atStep() && mayAct.value,
    act: () => actOnB('materialize'), cli: (source, step) => `deltascope materialize ${source}@${step}`,
  },
  {
    id: 'rollback', text: 'Roll back to step B…', shortcut: 'b', enabled: () => atStep() && canDo('rollback') && !isNewest(epochOfB(), stepB.value),
    act: rollBackToB, cli: (source, step) => `deltascope rollback ${source}@${step}`,
  },
  {
    id: 'undo', text: 'Undo the newest roll back…', enabled: () => inRun() && canDo('undo'), act: () => openRun.value !== null && openUndo(openRun.value),
    cli: (source) => `deltascope undo ${source}`,
  },
  { id: 'refresh', text: 'Load everything again', shortcut: 'r', act: () => (generation.value += 1) },
  { id: 'theme', text: 'Light or dark', shortcut: 'h', act: () => chooseTheme(theme.value === 'dark' ? 'light' : 'dark') },
  { id: 'tv', text: 'Larger type', shortcut: 'l', act: () => setView({ tv: !view.value.tv }) },
];

export const isEnabled = (action: Action) => action.enabled?.() ?? true;
