import { expect, it } from 'vitest';
import { took } from '../../src/pages/tasks/progress';

it('tells how fast a task was on the whole, and no speed of no time', () => {
  expect(took(3_000_000, 2)).toBe('2.0 s, 1.50 MB/s');
  expect(took(0, 0)).not.toContain('/s');
});
