import { expect, it } from 'vitest';
import type { Task } from '../../src/api/generated';
import { meanRate, took } from '../../src/pages/tasks/progress';

it('tells how fast a task was on the whole, and no speed of no time', () => {
  expect(took(3_000_000, 2)).toBe('2.0 s, 1.50 MB/s');
  expect(took(0, 0)).not.toContain('/s');
});

it('tells the mean rate of a task that is over, where its bytes and its time are known', () => {
  const task = (state: Task['state'], done: number, elapsed_s: number) => ({ state, done, elapsed_s }) as Task;
  expect(meanRate(task('done', 8_000_000, 4))).toBe(2_000_000);
  expect(meanRate(task('failed', 8_000_000, 4))).toBe(2_000_000);
  expect(meanRate(task('running', 8_000_000, 4))).toBeUndefined();
  expect(meanRate(task('done', 0, 4))).toBeUndefined();
  expect(meanRate(task('done', 8_000_000, 0))).toBeUndefined();
});
