import { describe, expect, it } from 'vitest';
import { lookUp } from '../../src/keys';
import { rowsInSight, sorted, type Column } from '../../src/components/Table';
import { runState } from '../../src/components/RunPill';
import { best, score, stepOf, type Hit } from '../../src/search';
import { progressTexts, remaining } from '../../src/pages/tasks/progress';
import { lagSeries } from '../../src/pages/live/lag';
import { usual } from '../../src/pages/live/usual';
import { replica, runSummary, task } from './fixtures';

describe('tables', () => {
  it('draw the rows in sight and a few more', () => {
    expect(rowsInSight(0, 280, 28, 40_000)).toEqual([0, 20]);
    expect(rowsInSight(28_000, 280, 28, 40_000)).toEqual([990, 1020]);
    expect(rowsInSight(1e9, 280, 28, 40_000)).toEqual([39_990, 40_000]);
    expect(rowsInSight(0, 280, 28, 0)).toEqual([0, 0]);
  });
  it('sort with unknown values last in both directions', () => {
    const columns: Column<number | null>[] = [{ id: 'v', head: 'v', cell: String, key: (row) => row }];
    expect(sorted([2, null, 1], columns, { column: 'v', descending: false })).toEqual([1, 2, null]);
    expect(sorted([2, null, 3], columns, { column: 'v', descending: true })).toEqual([3, 2, null]);
  });
});

describe('keys', () => {
  const list = ['g l', 'g h', 'h', '?'].map((shortcut) => ({ id: shortcut, text: '', shortcut, act: () => {} }));
  it('finds single keys and sequences', () => {
    expect(lookUp('', 'h', list).action?.id).toBe('h');
    expect(lookUp('', 'g', list)).toEqual({ action: null, pending: 'g' });
    expect(lookUp('g', 'h', list).action?.id).toBe('g h');
    expect(lookUp('g', '?', list).action?.id).toBe('?');
    expect(lookUp('', 'z', list)).toEqual({ action: null, pending: '' });
  });
});

describe('search', () => {
  const hits: Hit[] = ['model.layers.17.mlp.up_proj.weight', 'model.layers.1.mlp.up_proj.weight', 'Heatmap'].map((text) => ({ kind: 'tensor', text, open: () => {} }));
  it('takes words in any order and letters in order', () => {
    expect(best('up_proj 17', hits, 5).map(({ text }) => text)).toEqual(['model.layers.17.mlp.up_proj.weight']);
    expect(best('htmp', hits, 5).map(({ text }) => text)).toEqual(['Heatmap']);
    expect(score('xyz', 'Heatmap')).toBeNull();
  });
  it('knows steps', () => {
    expect(stepOf('#12')).toEqual({ epoch: null, step: 12 });
    expect(stepOf(' 1:12 ')).toEqual({ epoch: 1, step: 12 });
    expect(stepOf('12a')).toBeNull();
  });
});

describe('the state of a run', () => {
  const at = (seconds: number, state: 'live' | 'error' = 'live') => {
    const run = runSummary({ state });
    return runState({ ...run, kpi: { ...run.kpi, latest_at_us: 1e15, interval_s: 30 } }, 1e12 + seconds * 1000);
  };
  it('follows from how long ago it published', () => {
    expect([at(5), at(89), at(91), at(90_000), at(5, 'error')]).toEqual(['live', 'live', 'stalled', 'finished', 'error']);
  });
});

describe('tasks', () => {
  it('say nothing that is not known, and never 0 s', () => {
    expect(remaining(task({ elapsed_s: 1, eta_s: 5, rate: 1 }))).toBe('');
    expect(remaining(task({ elapsed_s: 5, eta_s: null, rate: 0 }))).toBe('waiting for data');
    expect(remaining(task({ elapsed_s: 5, eta_s: 0.2, rate: 1 }))).toBe('finishing');
    expect(remaining(task({ elapsed_s: 5, eta_s: 187, rate: 1 }))).toBe('about 3:07 left');
    expect(progressTexts(task({ done: 96e8, total: 0 }))).toEqual(['9.60 GB']);
  });
});

describe('usual', () => {
  it('compares with the median', () => {
    expect(usual(0.0083, 0.0079).word).toBe('above usual');
    expect(usual(0.0079, 0.0079).mark).toBe('');
    expect(usual(null, 1).word).toBe('');
  });
});

describe('lag', () => {
  it('draws the worst replica last and by name, many others as a band', () => {
    const few = lagSeries([replica({ id: 'a', lag_history: [0, 5] }), replica({ id: 'b', lag_history: [1, 0] })], 10);
    expect(few.map(({ label, color }) => `${label} ${color}`)).toEqual(['b series-other', 'a text']);
    expect(few[1]?.columns.x).toEqual([9, 10]);
    const many = lagSeries(Array.from({ length: 12 }, (_, i) => replica({ id: `r${i}`, lag_history: [i, 0] })), 10);
    expect(many.map(({ label }) => label)).toEqual(['11 others', 'r11']);
    expect(many[0]?.columns).toMatchObject({ x: [9, 10], min: [0, 0], max: [10, 0] });
  });
});
