import { beforeEach, expect, it, vi } from 'vitest';

const said: { text: string; offers: boolean }[] = [];
vi.mock('../../src/components/Toast', () => ({ toast: (text: string, offer?: object) => said.push({ text, offers: offer !== undefined }) }));

import { announceEnd } from '../../src/chrome/undoOffer';
import { tasks } from '../../src/state/store';
import { takeStarted } from '../../src/state/task';
import { task } from './fixtures';

beforeEach(() => void said.splice(0));

it('an end that has come already is said once, with an undo', async () => {
  tasks.value = [task({ state: 'done', title: 'Roll back', undo: 'undo' })];
  announceEnd('t1');
  await Promise.resolve();
  tasks.value = [...tasks.value];
  expect(said).toEqual([{ text: '✓ Roll back', offers: true }]);
});
it('an end is waited for, and a failure offers nothing', () => {
  tasks.value = [task({ state: 'running' })];
  announceEnd('t1');
  expect(said).toEqual([]);
  tasks.value = [task({ state: 'failed', title: 'Roll back', undo: 'undo', problem: { code: 'DS-EXISTS', step: null, where: '', text: 'published since', remedy: '', notice: false } })];
  expect(said).toEqual([{ text: '✕ Roll back: published since', offers: false }]);
});
it('what cannot be undone says so by offering nothing', () => {
  tasks.value = [task({ state: 'done', title: 'Write a note', undo: null })];
  announceEnd('t1');
  expect(said).toEqual([{ text: '✓ Write a note', offers: false }]);
});
it('the answer to a start is older than an event that came before it', () => {
  tasks.value = [task({ state: 'failed' })];
  takeStarted(task({ state: 'queued' }));
  expect(tasks.value[0]?.state).toBe('failed');
  takeStarted(task({ id: 't2', state: 'queued' }));
  expect(tasks.value.map(({ id, state }) => `${id} ${state}`)).toEqual(['t2 queued', 't1 failed']);
});
