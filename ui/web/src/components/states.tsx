import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../api/client';
import type { Problem } from '../api/types';
import { safeName } from '../format';
import type { Resource } from '../state/resource';
import { staleFor } from '../state/store';
import { toast } from './Toast';
import { Icon } from './Icon';

// The four states that each view has beside the good one: empty, loading, error, stale.

interface EmptyProps {
  title: string;
  page?: boolean; // it stands in place of a whole page
  children?: ComponentChildren; // why it is empty and what to do
}

export function EmptyState({ title, page, children }: EmptyProps) {
  return (
    <div class="empty">
      {page ? <h1 class="empty-title">{title}</h1> : <p class="empty-title">{title}</p>}
      {children}
    </div>
  );
}

/** Gray bars in place of text, shown only if loading takes longer than 150 ms. */
export function Skeleton({ rows = 5 }: { rows?: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {shown && Array.from({ length: rows }, (_, i) => <div key={i} class="skeleton-row" />)}
    </div>
  );
}

interface BannerProps {
  what: ComponentChildren;
  why: ComponentChildren;
  code: string;
  children?: ComponentChildren; // buttons
}

/** What is wrong, why, what to do, and the code to search for. */
export function ErrorBanner({ what, why, code, children }: BannerProps) {
  return (
    <div class="banner" role="alert">
      <Icon name="alert" size={20} />
      <div class="banner-text">
        <p class="banner-what">{what}</p>
        <p class="banner-why">
          {why} <span class="code">Code {code}</span>
        </p>
      </div>
      <div class="banner-acts">{children}</div>
    </div>
  );
}

export function RequestError({ error, retry }: { error: ApiError; retry: () => void }) {
  const { title, detail, hint, code } = error.problem;
  const report = `${title}\n${detail}\n${hint}\nCode ${code}\n${window.location.pathname}`;
  return (
    <ErrorBanner what={`✕ ${safeName(title)}`} why={[safeName(detail), safeName(hint)].filter(Boolean).join(' ')} code={code}>
      <button type="button" onClick={() => void copyReport(report)}>Copy report</button>
      <button type="button" class="primary" onClick={retry}>Retry</button>
    </ErrorBanner>
  );
}

async function copyReport(text: string): Promise<void> {
  await copyText(text);
  toast('Report copied');
}

/** Copies text; where the browser has no clipboard (plain HTTP), through a selection. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/** Shows a resource: its content, what stands in for it, and the error above what was loaded before. */
export function Loaded<T>(props: { from: Resource<T>; rows?: number; children: (data: T) => ComponentChildren }) {
  const { data, error, loading, retry } = props.from;
  return (
    <>
      {error && <RequestError error={error} retry={retry} />}
      {data !== null ? props.children(data) : loading && <Skeleton rows={props.rows} />}
    </>
  );
}

/** Amber, because nothing is wrong with the run: the page has lost contact and shows what it knew. */
export function StaleBadge() {
  const seconds = staleFor.value;
  if (seconds === null) return null;
  return <span class="stale" role="status">no contact for {seconds} s</span>;
}

/** The code of the first problem that is no notice, else of the first notice. */
export function WorstCode({ problems }: { problems: readonly Problem[] }) {
  const worst = problems.find(({ notice }) => !notice) ?? problems[0];
  if (worst === undefined) return null;
  return worst.notice ? <span class="muted">{worst.code}</span> : <span class="error-text">✕ {worst.code}</span>;
}

/** A problem of the engine: what, where, what to do. A notice has no mark. */
export function ProblemText({ problem }: { problem: Problem }) {
  return (
    <div class="problem">
      <p>
        {problem.notice ? <strong>{problem.code}</strong> : <strong class="error-text">✕ {problem.code}</strong>} {safeName(problem.text)}
      </p>
      {problem.where !== '' && <p class="muted mono">{safeName(problem.where)}</p>}
      {problem.remedy !== '' && <p class="muted">{safeName(problem.remedy)}</p>}
    </div>
  );
}
