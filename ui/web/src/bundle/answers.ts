import type { ProblemDetails, Series, StepPage, Timeline } from '../api/types';
import type { Bundle } from './bundle';
import { cutSeries, cutSteps, cutTimeline, within } from './cuts';

/** Answers a request as the daemon would have when the bundle was made. */
export function answerFrom(bundle: Bundle, address: string, method = 'GET'): Response {
  if (method !== 'GET') return refusal('A bundle is read-only.');
  const tile = bundle.tiles[withEpoch(bundle, address)];
  if (tile !== undefined) return tileAnswer(tile);
  const json = jsonOf(bundle, address);
  return json === undefined ? refusal('deltascope serve shows it where the bucket is.') : Response.json(json);
}

function jsonOf(bundle: Bundle, address: string): unknown {
  const [path = '', search] = address.split('?');
  const query = new URLSearchParams(search);
  const inside = within(query);
  const whole = bundle.answers[withEpoch(bundle, address)];
  const steps = stepsOf(bundle);
  if (path.endsWith('/steps')) return cutSteps(steps, numberOf(query, 'epoch'), inside);
  if (whole !== undefined && path.endsWith('/series')) {
    return cutSeries(whole as Series, (query.get('names') ?? '').split(','), inside, steps);
  }
  if (whole !== undefined && path.endsWith('/timeline')) return cutTimeline(whole as Timeline, inside);
  if (path.endsWith('/objects')) return bundle.answers[`${path}?prefix=${query.get('prefix') ?? ''}`];
  if (path === 'alerts/backtest') return bundle.answers[`${path}?rule=${query.get('rule') ?? ''}`];
  return whole ?? bundle.answers[qualified(path, steps)];
}

/** The address with its epoch, the newest one by default, and nothing else behind the question mark. */
function withEpoch(bundle: Bundle, address: string): string {
  const [path = '', search] = address.split('?');
  if (!/^runs\/[^/]+\/(series|timeline|tensors|heat)(\/|$)/.test(path)) return path;
  const epoch = numberOf(new URLSearchParams(search), 'epoch') ?? stepsOf(bundle).epochs.at(-1) ?? 0;
  return `${path}?epoch=${epoch}`;
}

/** "…/steps/12" as "…/steps/1:12", 1 being the newest epoch that has the step. */
function qualified(path: string, { steps }: StepPage): string {
  const [, before, number] = /^(runs\/[^/]+\/steps\/)(\d+)$/.exec(path) ?? [];
  const row = number === undefined ? undefined : steps.filter(({ step, kind }) => step === Number(number) && kind !== 'gap').at(-1);
  return row === undefined ? path : `${before}${row.epoch}:${row.step}`;
}

const stepsOf = (bundle: Bundle) => bundle.answers[`runs/${bundle.run}/steps`] as StepPage;

function numberOf(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  return text === null ? null : Number(text);
}

const tileCells = 256 * 256;

function tileAnswer(base64: string): Response {
  const body = Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
  return new Response(body, { headers: { 'X-Unknown': body.length > tileCells ? 'mask' : 'none' } });
}

function refusal(hint: string): Response {
  const problem: ProblemDetails = {
    type: 'about:blank', title: 'Not in this bundle', status: 404, detail: 'This is not in the bundle.', code: 'DS-NOT-FOUND', hint,
  };
  return Response.json(problem, { status: 404 });
}
