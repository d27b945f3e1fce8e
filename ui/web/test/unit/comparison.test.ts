import { describe, expect, it } from 'vitest';
import task from '../../../../tests/golden/view/task.json';
import type { Diff, Problem } from '../../src/api/types';
import { problemsBetween, reportOf } from '../../src/pages/diff/comparison';
import { reportMarkdown } from '../../src/pages/diff/report';

const plain = task.result as unknown as Diff;
const pair = { runId: 'r', epoch: 0, a: 1, b: 2 };
const markdownOf = (diff: Diff): string => reportMarkdown(reportOf(pair, diff));

describe('a saved comparison', () => {
  it('says how its sides were compared and of which bytes', () => {
    const text = markdownOf({
      ...plain,
      form_differences: [{ kind: 'dtypes', a: 'F32', b: 'BF16', tensors: 290, text: 'F32 is compared as rounded to BF16' }],
      adapters: 'the settings of B are not known', settings: [{ name: 'r', a: 8, b: null }], rewritten: ['deltas/3'],
      notices: [{ code: 'DS-MIRROR', notice: true, step: null, where: '', text: 'a mirror was read', remedy: '' }],
    });
    expect(text).toContain('- compared as: F32 is compared as rounded to BF16\n');
    expect(text).toContain('- adapters: the settings of B are not known\n');
    expect(text).toContain('- settings: r is 8 in A and null in B\n');
    expect(text).toContain('- read: rewritten and used: deltas/3\n');
    expect(text).toContain('- read: DS-MIRROR a mirror was read\n');
  });
  it('says no more where there is no more to know', () => {
    expect(markdownOf(plain)).not.toMatch(/compared as|adapters|settings|- read|- compared/);
  });
  it('says why nothing was compared, and no share of nothing', () => {
    const reason = 'each tensor has another dtype or shape in B than in A: nothing was compared';
    const text = markdownOf({ ...plain, tensors_total: 0, nothing_compared: reason });
    expect(text).toContain(`- compared: ${reason}\n`);
    expect(text).not.toContain('tensors different');
  });
});

it('says what is wrong with the deltas between, not with those around them', () => {
  const problem = (step: number | null, notice = false, code = 'DS-REWRITTEN'): Problem => ({ code, step, where: '', text: '', remedy: '', notice });
  const problems = [problem(2), problem(3), problem(4, true), problem(5), problem(6), problem(null)];
  expect(problemsBetween(problems, 2, 5)).toEqual(['DS-REWRITTEN of steps 3, 5']);
  expect(problemsBetween([...problems, problem(6, false, 'DS-CORRUPT')], 5, 6)).toEqual(['DS-REWRITTEN of step 6', 'DS-CORRUPT of step 6']);
  expect(problemsBetween(Array.from({ length: 9 }, (_, i) => problem(i)), 1, 9)).toEqual(['DS-REWRITTEN of steps 2, 3, 4, 5, 6 and 2 more']);
  expect(problemsBetween(problems, 6, 9)).toEqual([]);
});
