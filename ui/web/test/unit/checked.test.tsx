import { describe, expect, it } from 'vitest';
import type { Problem, Step, StepPage, TensorCount, Verified } from '../../src/api/types';
import { uncheckedText } from '../../src/chrome/StatusBar';
import { verdictText } from '../../src/components/StateIcon';
import { versionsText } from '../../src/pages/diff/Between';
import { checkedText } from '../../src/pages/lineage/checked';
import { tensorsChanged } from '../../src/pages/step';
import { lineageRow } from './fixtures';

const problem = (code: string, notice = false): Problem => ({ code, step: 2, where: '', text: '', remedy: '', notice });
const verified = (result: Verified['result'], level = 2): Verified => ({ level, result, t_us: 0, problem: null });

describe('what a verification found', () => {
  it('is said as `verify` does: nothing vouches for it, or something speaks against it', () => {
    expect(verdictText({ level: 2, result: 'unverified' })).toBe('nothing vouches for it, level 2 payload');
    expect(verdictText({ level: 2, result: 'unverified', problem: problem('DS-REWRITTEN') })).toBe('DS-REWRITTEN speaks against it, level 2 payload');
    expect(verdictText({ level: 2, result: 'unverified', problems: [problem('DS-GONE', true), problem('DS-REWRITTEN')] })).toContain('DS-REWRITTEN speaks');
  });
  it('is not spoken against by notices, and a sound one stays what it is', () => {
    expect(verdictText({ level: 3, result: 'unverified', problem: problem('DS-UNPROVEN', true) })).toBe('nothing vouches for it, level 3 replay');
    expect(verdictText({ level: 4, result: 'verified' })).toBe('verified as published, level 4 cross-anchor');
  });
});

describe('a folded chain', () => {
  const sound = lineageRow({ verified: verified('verified', 4) });
  it('names the lowest level of versions that are all sound', () => {
    expect(checkedText([sound, lineageRow({ verified: verified('first_sight'), problem: problem('DS-NOTE', true) })])).toBe('all level 2 or deeper');
  });
  it('counts what cannot be rebuilt, what is in doubt and what is not checked', () => {
    const chain = [
      sound, lineageRow({ restorable: false, verified: verified('damaged') }), lineageRow({ verified: verified('unverified') }),
      lineageRow({ verified: verified('consistent'), problem: problem('DS-REWRITTEN') }), lineageRow(),
    ];
    expect(checkedText(chain)).toBe('1 cannot be rebuilt, 2 in doubt, 1 not checked');
  });
  it('says nothing of what was overwritten', () => {
    expect(checkedText([lineageRow({ surviving: false, restorable: false })])).toBe('');
  });
});

describe('the number of versions', () => {
  const step = (at: number, of: Verified | null, restorable = true) => ({ step: at, kind: 'delta', verified: of, restorable }) as Step;
  const page = (steps: StepPage['steps'], next_cursor: string | null = null): StepPage => ({ rev: 1, epochs: [0], steps, next_cursor });
  it('that wait to be checked leaves out holes and what was checked, whatever was found', () => {
    const gap = { epoch: 0, step: 3, kind: 'gap', state: 'gap', last_step: 2699 } as const;
    expect(uncheckedText(page([step(2, verified('unverified')), gap, step(2700, null)]))).toBe('1 not checked yet');
    expect(uncheckedText(page([step(2, verified('damaged')), gap, step(2701, null, false)]))).toBe('');
    expect(uncheckedText(page([step(2, null)], '0:2'))).toBe('1+ not checked yet');
  });
  it('between two steps is one of versions', () => {
    expect([versionsText(1), versionsText(30), versionsText(null)]).toEqual([
      { value: '1', unit: 'version' }, { value: '30', unit: 'versions' }, { value: '–', unit: '' },
    ]);
  });
});

it('a step of which no count is known has no number of changed tensors', () => {
  const tensor = (changed_elems: number | null) => ({ changed_elems }) as TensorCount;
  expect([tensorsChanged([]), tensorsChanged([tensor(null), tensor(null)])]).toEqual(['–', '–']);
  expect(tensorsChanged([tensor(0), tensor(5), tensor(null)])).toBe('1 of 2');
});
