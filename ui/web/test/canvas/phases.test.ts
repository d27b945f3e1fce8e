import { describe, expect, it } from 'vitest';
import type { Bar, Timeline } from '../../src/api/types';
import { barsTable } from '../../src/canvas/barTable';
import { lanesOf } from '../../src/canvas/ganttPainter';
import { barsOf, groupOf, stretches } from '../../src/canvas/phases';
import { syncText } from '../../src/pages/timeline/syncText';

const bar: Bar = {
  epoch: 0, step: 7, actor: 'r2', t0_us: 0, t1_us: 10_000_000, total_ms: 10_000, pause_ms: 2000, slowest: true, work: [],
  phases: [
    { phase: 'pause.drain', ms: 500 }, { phase: 'pause.apply', ms: 1500 }, { phase: 'verify', ms: 300 }, { phase: 'stage', ms: 700 },
    { phase: 'fetch', ms: 1000 }, { phase: 'waiting', ms: 0 }, { phase: 'upload', ms: 6000 },
  ],
};

describe('phases of a sync', () => {
  it('counts only pauses as pause', () => {
    expect(['pause', 'pause.flush', 'resume', 'pausing', 'apply'].map(groupOf)).toEqual(['pause', 'pause', 'other', 'other', 'other']);
  });
  it('stacks groups without gaps up to the total', () => {
    const parts = stretches(bar);
    expect(parts.map((part) => part.group)).toEqual(['pause', 'verify', 'fetch', 'upload']);
    expect(parts[0]).toEqual({ group: 'pause', from: 0, to: 2000 });
    expect(parts.at(-1)!.to).toBe(10_000);
    for (let i = 1; i < parts.length; i += 1) expect(parts[i]!.from).toBe(parts[i - 1]!.to);
  });
  it('keeps an unknown pause unknown', () => {
    expect(barsTable([{ ...bar, pause_ms: null }]).rows[0]![3]).toBeNull();
    expect(barsTable([bar]).rows[0]!.slice(0, 5)).toEqual([7, 'r2', 10, 2, 0.3]);
  });
  it('chooses the slowest replica, or one', () => {
    const others = [bar, { ...bar, actor: 'r1', slowest: false }];
    expect(barsOf(others, null).map(({ actor }) => actor)).toEqual(['r2']);
    expect(barsOf(others, 'r1').map(({ actor }) => actor)).toEqual(['r1']);
  });
  it('writes one line', () => {
    expect(syncText(bar)).toBe(
      'step 7 r2: total 10.00 s, paused 2.00 s; upload 6.00 s, waiting 0.00 s, fetch 1.00 s, stage 0.70 s, verify 0.30 s, ' +
      'pause.apply 1.50 s, pause.drain 0.50 s',
    );
  });
  it('orders lanes and joins the parts of a pause', () => {
    const span = (actor: string, phase: string, t0: number, t1: number, step = 1) => ({ actor, phase, epoch: 0, step, t0_us: t0, t1_us: t1, bytes: 0 });
    const lanes = lanesOf({
      actors: ['r0', 'trainer'], visible: [],
      spans: [
        span('trainer', 'upload', 0, 5), span('r0', 'fetch', 5, 8), span('r0', 'pause.drain', 8, 9), span('r0', 'pause.apply', 9, 12),
        span('r0', 'pause.apply', 20_000, 20_010, 2),
      ],
    } as unknown as Timeline);
    expect(lanes.map((lane) => lane.actor)).toEqual(['trainer', 'bucket', 'r0']);
    expect(lanes[2]!.pauses.map((pause) => [pause.step, pause.t0_us, pause.t1_us])).toEqual([[1, 8, 12], [2, 20_000, 20_010]]);
  });
});
