import { describe, expect, it } from 'vitest';
import { applyToDetail, byAttention, withAlert, withRun, withTask } from '../../src/state/apply';
import { alert, replica, runDetail, runSummary, step, task } from './fixtures';

describe('runs', () => {
  it('stand in the order of attention', () => {
    const runs = [runSummary({ id: 'a' }), runSummary({ id: 'b', attention: 3 }), runSummary({ id: 'c' })];
    expect(byAttention(runs).map(({ id }) => id)).toEqual(['b', 'a', 'c']);
  });
  it('are replaced, or added, by an event', () => {
    const list = { rev: 1, runs: [runSummary({ id: 'a' })] };
    expect(withRun(list, runSummary({ id: 'a', rev: 7, steps: 9 }))).toMatchObject({ rev: 7, runs: [{ id: 'a', steps: 9 }] });
    expect(withRun(list, runSummary({ id: 'b', attention: 1 })).runs.map(({ id }) => id)).toEqual(['b', 'a']);
  });
});

describe('the open run', () => {
  it('takes events of its own', () => {
    const detail = runDetail({ replicas: [replica({ step: 1 })] });
    const moved = applyToDetail(detail, { topic: 'replica', data: { run: 'wordle', rev: 2, replica: replica({ step: 2 }) } });
    expect(moved.replicas).toEqual([replica({ step: 2 })]);
    const named = applyToDetail(detail, { topic: 'run', data: runSummary({ steps: 99 }) });
    expect(named).toMatchObject({ steps: 99, first_step: 0 });
  });
  it('ignores events of others', () => {
    const detail = runDetail();
    expect(applyToDetail(detail, { topic: 'run', data: runSummary({ id: 'other' }) })).toBe(detail);
    expect(applyToDetail(detail, { topic: 'replica', data: { run: 'other', rev: 1, replica: replica() } })).toBe(detail);
    expect(applyToDetail(detail, { topic: 'reset', data: {} })).toBe(detail);
  });
  it('grows, and keeps what is wrong with a step', () => {
    const problem = { code: 'DS-DIGEST', step: 3, where: '', text: '', remedy: '', notice: false };
    const detail = runDetail();
    const damaged = applyToDetail(detail, { topic: 'step', data: { run: 'wordle', rev: 2, step: step({ step: 3, problems: [problem] }) } });
    expect(damaged).toMatchObject({ last_step: 3, problems: [problem] });
    const mended = applyToDetail(damaged, { topic: 'step', data: { run: 'wordle', rev: 3, step: step({ step: 3 }) } });
    expect(mended.problems).toEqual([]);
    const gap = { epoch: 0, step: 4, kind: 'gap' as const, state: 'gap' as const, last_step: 5 };
    expect(applyToDetail(mended, { topic: 'step', data: { run: 'wordle', rev: 4, step: gap } }).last_step).toBe(3);
  });
  it('keeps a hundred entries of the feed', () => {
    let detail = runDetail();
    for (let i = 0; i < 150; i += 1) {
      detail = applyToDetail(detail, { topic: 'feed', data: { run: 'wordle', item: { t_us: i, kind: 'note', step: null, text: '' } } });
    }
    expect(detail.feed).toHaveLength(100);
    expect(detail.feed[0]?.t_us).toBe(149);
  });
});

describe('tasks and alerts', () => {
  it('are replaced by id, new tasks come first', () => {
    expect(withTask([task()], task({ done: 5 }))).toEqual([task({ done: 5 })]);
    expect(withTask([task()], task({ id: 't2' })).map(({ id }) => id)).toEqual(['t2', 't1']);
  });
  it('puts what fires before what was cleared', () => {
    const list = { rev: 1, rules: [], channels: [], alerts: [alert({ id: 'a1' }), alert({ id: 'a2', last_us: 5 })] };
    const after = withAlert(list, alert({ id: 'a2', state: 'cleared', last_us: 9 }));
    expect(after.alerts.map(({ id, state }) => `${id} ${state}`)).toEqual(['a1 firing', 'a2 cleared']);
  });
});
