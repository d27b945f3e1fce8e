import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { canDo, moreActions, openDiscard, sheet, stepActs } from '../../src/actions';
import { ApiError, transport } from '../../src/api/client';
import type { ActField, Plan } from '../../src/api/types';
import { argsOf, isComplete } from '../../src/chrome/fields';
import { amount, barsOf, confirms, loadedText, outcomeText, partsOf } from '../../src/chrome/rollback/model';
import { remedyLines } from '../../src/components/remedy';
import { flagsOf, nameOf, removalOf, undoable } from '../../src/pages/journal/names';
import { stateOf } from '../../src/pages/live/replicaState';
import { followPlan } from '../../src/state/plan';
import { acts, capabilities } from '../../src/state/store';
import { actInfo, lineageRow, plan, ref, replica, task } from './fixtures';

describe('a plan that is made from states', () => {
  const real = transport.ask;
  let asked: string[];
  const answerWith = (...plans: (Partial<Plan> | { status: number })[]) => {
    asked = [];
    transport.ask = (path, init) => {
      asked.push(`${init.method ?? 'GET'} ${path}`);
      const next = plans.shift() ?? {};
      return Promise.resolve('status' in next ? Response.json({ code: 'DS-NOT-FOUND' }, { status: next.status as number }) : Response.json(plan(next)));
    };
  };
  const wanted = { kind: 'rollback', args: { step: '0:12' } };
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    transport.ask = real;
  });

  it('is looked at until it is ready', async () => {
    answerWith({ state: 'planning' }, { state: 'planning', done: 5, total: 10 }, { state: 'ready' });
    const seen: string[] = [];
    const end = followPlan('wordle', wanted, (now) => seen.push(`${now.state} ${now.done}`), new AbortController().signal);
    await vi.runAllTimersAsync();
    await end;
    expect(seen).toEqual(['planning 0', 'planning 5', 'ready 0']);
    expect(asked).toEqual(['POST runs/wordle/plans', 'GET plans/p1', 'GET plans/p1']);
  });
  it('is asked for once where it is ready at once, or has failed', async () => {
    for (const state of ['ready', 'failed'] as const) {
      answerWith({ state });
      await followPlan('wordle', wanted, () => undefined, new AbortController().signal);
      expect(asked).toEqual(['POST runs/wordle/plans']);
    }
  });
  it('is forgotten if nobody waits for it when it comes', async () => {
    answerWith({ state: 'planning' }, {});
    const abort = new AbortController();
    const seen: Plan[] = [];
    const end = followPlan('wordle', wanted, (now) => seen.push(now), abort.signal);
    abort.abort();
    await end;
    expect(seen).toEqual([]);
    expect(asked).toEqual(['POST runs/wordle/plans', 'POST plans/p1/drop']);
  });
  it('is not asked for again once its sheet is closed', async () => {
    answerWith({ state: 'planning' });
    const abort = new AbortController();
    const end = followPlan('wordle', wanted, () => abort.abort(), abort.signal);
    await vi.runAllTimersAsync();
    await end;
    expect(asked).toEqual(['POST runs/wordle/plans']);
  });
  it('says so when the daemon has lost it', async () => {
    answerWith({ state: 'planning' }, { status: 404 });
    const end = followPlan('wordle', wanted, () => undefined, new AbortController().signal).catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(((await end) as ApiError).problem.code).toBe('DS-NOT-FOUND');
  });
});

describe('the wizard', () => {
  const states = (...args: Parameters<typeof partsOf>) => partsOf(...args).map(({ state }) => state).join(' ');
  it('stands where its plan and its task stand', () => {
    expect(states('rollback', '', null, false, null)).toBe('over now ahead ahead ahead');
    expect(states('rollback', '', plan({ state: 'planning' }), false, null)).toBe('over now ahead ahead ahead');
    expect(states('rollback', '', plan({ state: 'failed' }), true, null)).toBe('over failed ahead ahead ahead');
    expect(states('rollback', '', plan(), false, null)).toBe('over over now ahead ahead');
    expect(states('rollback', '', plan(), true, null)).toBe('over over failed ahead ahead');
    expect(states('rollback', '', plan(), false, task({ state: 'running' }))).toBe('over over over now ahead');
    expect(states('undo', '', plan(), false, task({ state: 'failed' }))).toBe('over over over failed ahead');
    expect(states('undo', '', plan(), false, task({ state: 'done' }))).toBe('over over over over now');
  });
  it('wants the name of the run and no other word', () => {
    expect(confirms('wordle', 'wordle')).toBe(true);
    expect(confirms(' wordle ', 'wordle')).toBe(true);
    for (const typed of ['', 'Wordle', 'wordl', 'wordle2']) expect(confirms(typed, 'wordle')).toBe(false);
    expect(confirms('', null)).toBe(true);
  });
  it('draws the changed share, the largest first', () => {
    const bars = barsOf([{ name: 'a', elems: 1000, changed_elems: 10 }, { name: 'b', elems: 100, changed_elems: 2 }, { name: 'empty', elems: 0, changed_elems: 0 }]);
    expect(bars.map(({ name, width }) => [name, width])).toEqual([['b', 1], ['a', 0.5], ['empty', 0]]);
    expect(bars[0]?.counts).toBe('2 of 100');
    expect(barsOf([{ name: 'a', elems: 10, changed_elems: 0 }])[0]?.width).toBe(0);
    expect(barsOf([])).toEqual([]);
  });
  it('says how much was read as far as it is known', () => {
    expect([amount(0, 0), amount(1000, 0), amount(1000, 2000)]).toEqual(['', '1.00 kB', '1.00 kB of 2.00 kB']);
  });
  it('counts only replicas that are heard to serve the step', () => {
    const at = (step: number | null, over = {}) => replica({ step, ...over });
    expect(loadedText([at(17), at(17), at(16)], 17)).toBe('2 of 3 replicas serve step 17.');
    expect(loadedText([at(16)], 17)).toBe('0 of 1 replica serves step 17.');
    expect(loadedText([at(17), at(18)], 17)).toBe('1 of 2 replicas serves step 17, 1 a newer one.');
    expect(loadedText([at(17), at(17, { late: true }), at(17, { doubt: 'clock' }), at(17, { foreign: true }), at(null)], 17))
      .toBe('1 of 5 replicas serves step 17, of 4 it is not known.');
    expect(loadedText([at(17), at(17, { state: 'poisoned' }), at(17, { state: 'stopped' })], 17))
      .toBe('1 of 3 replicas serves step 17, of 1 it is not known.');
    expect(loadedText([], 17)).toContain('not known here');
  });
  it('says what came of it', () => {
    const report = { source: '', from: 16, to: 12, step: 17, done: true, was_there: false, changed_elems: 1, keys: [] };
    expect(outcomeText(report)).toBe('Step 17 restores step 12.');
    expect(outcomeText({ ...report, was_there: true })).toContain('nothing was written');
  });
});

describe('the state of a replica', () => {
  it('is in sync only where it says nothing against its weights', () => {
    const word = (over: object) => stateOf(replica(over)).word;
    expect(word({})).toBe('in sync');
    expect(word({ state: 'poisoned' })).toBe('half-written weights');
    expect(word({ state: 'digest-mismatch' })).toBe('refuses a step');
    expect(word({ state: 'digest-mismatch', behind: 1 })).toBe('behind');
    expect(word({ state: 'stopped', late: true, behind: 9 })).toBe('gone');
  });
});

describe('remedies', () => {
  it('offer commands to copy, and sentences as text', () => {
    expect(remedyLines('deltascope materialize file:///b@12 -o DIR')).toEqual([{ text: 'deltascope materialize file:///b@12 -o DIR', command: true }]);
    expect(remedyLines('do this:\n  deltascope materialize /b@12 -o DIR\n')).toEqual([
      { text: 'do this:', command: false }, { text: 'deltascope materialize /b@12 -o DIR', command: true },
    ]);
    expect(remedyLines('deltascope rollback SOURCE@STEP restores any earlier step').map(({ command }) => command)).toEqual([false]);
    expect(remedyLines('')).toEqual([]);
  });
});

describe('sheets made from fields', () => {
  const field = (name: string, over: Partial<ActField> = {}): ActField => ({ name, type: 'text', label: name, help: '', standard: '', required: false, ...over });
  const fields = [field('step', { type: 'step', required: true }), field('why'), field('days', { type: 'whole', most: 30 }), field('sure', { type: 'flag' })];
  it('are complete with what is required and numbers that fit', () => {
    expect(isComplete(fields, { step: '0:12' })).toBe(true);
    expect(isComplete(fields, { step: ' ' })).toBe(false);
    expect(isComplete(fields, { step: '0:12', days: '30' })).toBe(true);
    for (const days of ['31', '-1', '1.5', 'x']) expect(isComplete(fields, { step: '0:12', days })).toBe(false);
  });
  it('send what is filled in, with its type', () => {
    expect(argsOf(fields, { step: '0:12', why: ' ', days: '3', sure: 'true' })).toEqual({ step: '0:12', days: 3, sure: true });
  });
});

describe('acts', () => {
  const allow = (scopes: ('read' | 'act')[], readOnly = false) => {
    capabilities.value = { api_version: 1, version: '', read_only: readOnly, signed_in: true, principal: '', scopes, backends: [], demo: false, now_us: 0 };
  };
  afterEach(() => {
    capabilities.value = null;
    acts.value = null;
  });
  it('on a step are those of the daemon that have no sheet of their own', () => {
    allow(['read', 'act']);
    acts.value = [actInfo('rollback'), actInfo('verify'), actInfo('pin'), actInfo('freeze'), actInfo('unpin', { fields: [] })];
    expect(stepActs().map(({ kind }) => kind)).toEqual(['pin', 'freeze']);
    expect([canDo('rollback'), canDo('prune')]).toEqual([true, false]);
  });
  it('are all found by name, also those on no step', () => {
    allow(['read', 'act']);
    acts.value = [actInfo('rollback'), actInfo('pin'), actInfo('publish', { fields: [] }), actInfo('discard', { fields: [] })];
    expect(moreActions().map(({ id }) => id)).toEqual(['pin', 'publish', 'discard']);
    allow(['read']);
    expect(moreActions()).toEqual([]);
  });
  it('discard what a task left beside its destination', () => {
    openDiscard('wordle', '/out/sub/step_12');
    expect(sheet.value).toEqual({ name: 'act', kind: 'discard', run: 'wordle', args: { folder: '/out/sub', name: 'step_12' } });
    sheet.value = null;
  });
  it('are not offered without the right, to a daemon that only reads, or before they are known', () => {
    acts.value = [actInfo('rollback'), actInfo('pin')];
    allow(['read']);
    expect([canDo('rollback'), stepActs().length]).toEqual([false, 0]);
    allow(['read', 'act'], true);
    expect([canDo('rollback'), stepActs().length]).toEqual([false, 0]);
    allow(['read', 'act']);
    acts.value = null;
    expect([canDo('rollback'), stepActs().length]).toEqual([false, 0]);
  });
});

describe('words of steps', () => {
  it('are removed by the act that gave them', () => {
    expect([nameOf(ref()), removalOf(ref())]).toEqual(['good', 'unref']);
    const pin = ref({ word: 'pin/good', pin: true });
    expect([nameOf(pin), removalOf(pin)]).toEqual(['good', 'unpin']);
    expect(nameOf(ref({ word: 'pin/odd', pin: false }))).toBe('pin/odd');
  });
  it('are flags where their version is', () => {
    const refs = [ref(), ref({ word: 'pin/good', pin: true }), ref({ word: 'gone', here: false }), ref({ word: 'torn', step: null }), ref({ word: 'old', epoch: 1 })];
    expect(flagsOf(refs, 0)).toEqual([{ x: 2, text: 'good, pin/good' }]);
  });
  it('an undo is offered where the newest step restores another one', () => {
    expect(undoable([lineageRow({ step: 17, restores: 12 }), lineageRow()])).toEqual({ step: 17, restores: 12 });
    expect(undoable([lineageRow({ step: 18 }), lineageRow({ step: 17, restores: 12 })])).toBeNull();
    expect(undoable([])).toBeNull();
  });
});
