import { describe, expect, it } from 'vitest';
import type { Series, StepPage, Timeline } from '../../src/api/types';
import { answerFrom } from '../../src/bundle/answers';
import type { Bundle } from '../../src/bundle/bundle';

const columns = (x: number[]) => ({ x, first: x, min: x, max: x, last: x });
const bar = (step: number, actor: string, pause_ms: number | null) => ({
  epoch: 1, step, actor, t0_us: step * 1e6, t1_us: step * 1e6 + 500_000, total_ms: 500, pause_ms, phases: [], work: [], slowest: true,
});

const bundle: Bundle = {
  format_version: 1,
  tool_version: '0.1.0',
  created_us: 5,
  run: 'wordle',
  left_out: [],
  tiles: { 'runs/wordle/heat/max/0/0/0/0?epoch=1': btoa('\0'.repeat(65_536)), 'runs/wordle/heat/max/0/0/0/0?epoch=0': btoa('\0'.repeat(73_728)) },
  answers: {
    'runs/wordle/steps': {
      rev: 1, epochs: [0, 1], next_cursor: null,
      steps: [{ epoch: 0, step: 3, kind: 'anchor' }, { epoch: 1, step: 3, kind: 'anchor' }, { epoch: 1, step: 4, kind: 'delta' }, { epoch: 1, step: 5, kind: 'gap', last_step: 5 }, { epoch: 1, step: 6, kind: 'delta' }],
    },
    'runs/wordle/steps/1:3': { step: 'newer' },
    'runs/wordle/steps/0:3': { step: 'older' },
    'runs/wordle/series?epoch=1': { rev: 1, epoch: 1, from: 3, to: 6, points: 3, anchors: [3], series: { pause_ms: columns([4, 6]), wire_bytes: columns([4, 6]) } },
    'runs/wordle/timeline?epoch=1': {
      rev: 1, epoch: 1, actors: ['publisher', 'r1', 'r2'], ghost: null, visible: [{ step: 3, t_us: 1 }, { step: 6, t_us: 2 }], summary: {},
      bars: [bar(3, 'r1', 80), bar(4, 'r1', 10), bar(4, 'r2', 30), bar(6, 'r1', 20), bar(7, 'r1', null)],
      spans: [{ actor: 'r1', step: 4 }, { actor: 'r2', step: 4 }],
    },
    'runs/wordle/objects?prefix=deltas/': { prefix: 'deltas/' },
    'alerts/backtest?rule=replica-lag': { rule: 'replica-lag' },
  },
};

const json = async <T>(address: string) => (await answerFrom(bundle, address).json()) as T;

describe('a bundle answers', () => {
  it('steps of a range, of one epoch or all', async () => {
    expect((await json<StepPage>('runs/wordle/steps?epoch=1&from=4')).steps.map(({ step }) => step)).toEqual([4, 5, 6]);
    expect((await json<StepPage>('runs/wordle/steps?to=3')).steps.map(({ epoch }) => epoch)).toEqual([0, 1]);
  });

  it('a step without an epoch from the newest that has it', async () => {
    expect(await json('runs/wordle/steps/3')).toEqual({ step: 'newer' });
    expect(await json('runs/wordle/steps/0:3')).toEqual({ step: 'older' });
  });

  it('the series that are asked for, cut', async () => {
    const series = await json<Series>('runs/wordle/series?names=pause_ms,noop_rate&epoch=1&from=4&to=5&px=600');
    expect(series).toMatchObject({ from: 4, to: 4, points: 1, anchors: [], series: { pause_ms: columns([4]) } });
    expect(Object.keys(series.series)).toEqual(['pause_ms']);
  });

  it('the pauses of the range, not of the run', async () => {
    const timeline = await json<Timeline>('runs/wordle/timeline?epoch=1&from=4&to=7');
    expect(timeline.summary).toEqual({ paused_ms: 60, wall_ms: 7_000, pauses: 3, p50_ms: 20, p95_ms: 30, worst: { step: 4, actor: 'r2', ms: 30 } });
    expect(timeline.actors).toEqual(['r1', 'r2']);
    const none = await json<Timeline>('runs/wordle/timeline?epoch=1&from=7&to=7');
    expect(none.summary).toMatchObject({ pauses: 0, p50_ms: null, worst: null });
  });

  it('tiles with their mask, of the newest epoch by default', () => {
    expect(answerFrom(bundle, 'runs/wordle/heat/max/0/0/0/0?rev=9').headers.get('X-Unknown')).toBe('none');
    expect(answerFrom(bundle, 'runs/wordle/heat/max/0/0/0/0?epoch=0&rev=9').headers.get('X-Unknown')).toBe('mask');
  });

  it('folders and backtests by what names them', async () => {
    expect(await json('runs/wordle/objects?prefix=deltas%2F&limit=500')).toEqual({ prefix: 'deltas/' });
    expect(await json('alerts/backtest?run=wordle&rule=replica-lag')).toEqual({ rule: 'replica-lag' });
  });

  it('nothing else, and takes no acts', () => {
    for (const address of ['runs/wordle/steps/4', 'runs/wordle/heat/max/1/0/0/0?epoch=1', 'runs/wordle/touched?a=3&b=4', 'runs/wordle/objects?prefix=x/', 'runs/other/timeline?epoch=1']) {
      expect(answerFrom(bundle, address).status, address).toBe(404);
    }
    expect(answerFrom(bundle, 'runs/wordle/plans', 'POST').status).toBe(404);
  });
});
