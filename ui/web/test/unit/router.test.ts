import { describe, expect, it } from 'vitest';
import { match, placeOf } from '../../src/router';

describe('match', () => {
  it('finds pages and their parameters', () => {
    expect(match('')).toEqual({ page: 'runs', params: {} });
    expect(match('r/wordle')).toEqual({ page: 'live', params: { runId: 'wordle' } });
    expect(match('r/wordle/heat')).toEqual({ page: 'heatmap', params: { runId: 'wordle' } });
    expect(match('r/wordle/steps/1:12')).toEqual({ page: 'step', params: { runId: 'wordle', step: '1:12' } });
    expect(match('tasks/t1')).toEqual({ page: 'tasks', params: { taskId: 't1' } });
  });
  it('decodes names and survives bad escapes', () => {
    expect(match('r/%3Cscript%3E/bucket')?.params.runId).toBe('<script>');
    expect(match('r/100%/heat')?.params.runId).toBe('100%');
  });
  it('knows no other pages', () => {
    for (const path of ['r', 'r/a/b', 'r/a/heat/x', 'nothing', '../r/a']) expect(match(path)).toBeNull();
  });
});

describe('placeOf', () => {
  it('takes off the base path', () => {
    expect(placeOf('http://h/x/r/a?b=1#k', 'http://h/x/')).toEqual({ path: 'r/a', query: '?b=1' });
    expect(placeOf('http://h/r/a', 'http://h/')).toEqual({ path: 'r/a', query: '' });
    expect(placeOf('http://h/x/', 'http://h/x/')).toEqual({ path: '', query: '' });
  });
});
