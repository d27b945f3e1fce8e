import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/client';
import type { StreamEvent } from '../../src/api/events';
import type { Step } from '../../src/api/types';
import { between, failed } from '../../src/state/resource';

const problem = (status: number) => new ApiError({ type: '', title: 'no', status, detail: '', code: 'DS-REWRITTEN', hint: '' });

describe('what was loaded before', () => {
  const old = { data: 7, error: null, loading: true };
  it('is replaced by a refusal', () => {
    for (const status of [400, 403, 404, 409, 422]) expect(failed(old, problem(status))).toMatchObject({ data: null, loading: false });
  });
  it('stays where there is no answer', () => {
    for (const status of [0, 401, 429, 500, 503]) expect(failed(old, problem(status)).data).toBe(7);
  });
});

describe('values of steps are asked for again', () => {
  const step = (at: number, run = 'x', epoch = 1): StreamEvent => ({ topic: 'step', data: { run, rev: 1, step: { epoch, step: at, kind: 'delta' } as Step } });
  const gap = (at: number, last_step: number): StreamEvent => (
    { topic: 'step', data: { run: 'x', rev: 1, step: { epoch: 1, step: at, kind: 'gap', state: 'gap', last_step } } });
  const asks = (event: StreamEvent, a: number | null = 4, b: number | null = 6) => between(event, 'x', 1, a, b);
  it('after an event of one of them, of one between them, and of a hole that reaches into them', () => {
    expect([step(4), step(5), step(6), gap(2, 4), gap(6, 9)].map((event) => asks(event))).toEqual([true, true, true, true, true]);
    expect(asks(step(5), 6, 4)).toBe(true);
  });
  it('after one that comes in front, where nothing was in front', () => {
    expect([asks(step(2), null), asks(step(7), null)]).toEqual([true, false]);
  });
  it('not after events of newer steps, other epochs, other runs and of steps that are not known yet', () => {
    expect([step(3), step(7), gap(7, 9), gap(2, 3), step(5, 'y'), step(5, 'x', 0)].map((event) => asks(event))).not.toContain(true);
    expect(asks(step(5), 4, null)).toBe(false);
    expect(asks({ topic: 'reset', data: {} })).toBe(false);
  });
});
