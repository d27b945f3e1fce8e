import type { Problem, StepState, VerifyResult } from '../api/types';
import { safeName } from '../format';

const marks: Record<StepState, [mark: string, word: string]> = {
  complete: ['●', 'complete'],
  publishing: ['◐', 'publishing'],
  gap: ['○', 'gap'],
  broken: ['✕', 'broken'],
  noop: ['–', 'no change'],
};

/** The state of a step, as a mark and a word. */
export function StateIcon({ state }: { state: StepState }) {
  const [mark, word] = marks[state];
  return (
    <span class={state === 'broken' ? 'state error-text' : 'state'}>
      <span aria-hidden="true">{mark}</span> {word}
    </span>
  );
}

const levels = ['listed', 'header', 'payload', 'replay', 'cross-anchor'];
const results: Record<VerifyResult, string> = {
  verified: 'verified as published',
  consistent: 'consistent',
  first_sight: 'as first read, which may be just now',
  unverified: 'nothing vouches for it',
  incomplete: 'incomplete',
  damaged: 'damaged',
};

export interface Verdict {
  level: number;
  result: VerifyResult;
  problem?: Problem | null;
  problems?: Problem[];
}

/** What a verification found, in the words of `verify`. */
export function verdictText({ level, result, problem = null, problems = [] }: Verdict): string {
  const against = [problem, ...problems].find((known) => known !== null && !known.notice);
  const words = result === 'unverified' && against ? `${safeName(against.code)} speaks against it` : results[result];
  return `${words}, level ${level} ${levels[level] ?? ''}`.trim();
}

interface ShieldProps {
  verified: Verdict | null;
  word?: boolean; // the words beside the shield; else only for screen readers
}

/** A shield with the level of the deepest verification: blue passed, magenta ✕ damaged, gray not checked. */
export function VerifyShield({ verified, word = false }: ShieldProps) {
  const text = verified ? verdictText(verified) : 'not checked';
  const look = !verified ? 'none' : verified.result === 'damaged' ? 'damaged' : passed(verified.result) ? 'passed' : 'part';
  return (
    <span class={`shield ${look}`} title={text}>
      <svg width="16" height="16" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <path
          d="M12 2l8.5 3.3v6c0 5-3.4 8.9-8.5 10.7-5.1-1.8-8.5-5.7-8.5-10.7v-6z" fill="none" stroke="currentColor"
          stroke-width="2" stroke-dasharray={look === 'part' ? '3 2.5' : undefined}
        />
        {look !== 'none' && (
          <text x="12" y="16.5" text-anchor="middle" fill="currentColor">
            {look === 'damaged' ? '✕' : verified?.level}
          </text>
        )}
      </svg>
      {word ? <span>{text}</span> : <span class="visually-hidden">{text}</span>}
    </span>
  );
}

export const passed = (result: VerifyResult) => result === 'verified' || result === 'consistent' || result === 'first_sight';
