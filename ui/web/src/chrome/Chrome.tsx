import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { sheet } from '../actions';
import { Icon, type IconName } from '../components/Icon';
import { Link, runPage } from '../components/Link';
import { RequestError, StaleBadge } from '../components/states';
import { safeName } from '../format';
import type { Route } from '../router';
import { view } from '../state/cursor';
import { detail, failure, firing, generation } from '../state/store';
import { lazy } from '../components/lazy';
import { Keys } from './Keys';
import { PlanSheet } from './PlanSheet';
import { Search } from './Search';
import { StatusBar } from './StatusBar';
import { TopBar } from './TopBar';

const RollBackSheet = lazy(async () => ({ default: (await import('./rollback/RollBackSheet')).RollBackSheet }));
const ActSheet = lazy(async () => ({ default: (await import('./ActSheet')).ActSheet }));

interface Tab {
  page: string;
  text: string;
  icon: IconName;
  path: string;
  phone?: boolean; // has a place on a phone
}

function tabsOf(run: string | null): Tab[] {
  const alerts: Tab = { page: 'alerts', text: firing.value > 0 ? `Alerts ${firing.value}` : 'Alerts', icon: 'flag', path: 'alerts', phone: true };
  const tasks: Tab = { page: 'tasks', text: 'Tasks', icon: 'list', path: 'tasks', phone: run === null };
  if (run === null) {
    return [
      { page: 'runs', text: 'Runs', icon: 'pulse', path: '', phone: true }, tasks, alerts,
      { page: 'about', text: 'About', icon: 'info', path: 'about', phone: true },
    ];
  }
  return [
    { page: 'live', text: 'Live', icon: 'pulse', path: runPage(run), phone: true },
    { page: 'heatmap', text: 'Heatmap', icon: 'grid', path: runPage(run, 'heat'), phone: true },
    { page: 'timeline', text: 'Timeline', icon: 'bars', path: runPage(run, 'timeline') },
    { page: 'lineage', text: 'Lineage', icon: 'branch', path: runPage(run, 'lineage'), phone: true },
    { page: 'diff', text: 'Diff', icon: 'diff', path: runPage(run, 'diff') },
    { page: 'bucket', text: 'Bucket', icon: 'bucket', path: runPage(run, 'bucket') },
    { page: 'journal', text: 'Journal', icon: 'book', path: runPage(run, 'journal'), phone: true },
    tasks, alerts,
  ];
}

/** What surrounds a page; nothing of it where the page is embedded in another. */
export function Chrome({ route, children }: { route: Route | null; children: ComponentChildren }) {
  const run = route?.params.runId ?? null;
  const tabs = tabsOf(run);
  const current = tabs.find(({ page }) => page === route?.page);
  const name = run === null ? null : (detail.value?.name ?? run);

  useEffect(() => {
    document.title = [current?.text, name === null ? null : safeName(name), 'Deltascope'].filter(Boolean).join(' – ');
  }, [current?.text, name]);
  useEffect(() => {
    document.documentElement.toggleAttribute('data-tv', view.value.tv);
    document.documentElement.toggleAttribute('data-embed', view.value.embed);
  }, [view.value.tv, view.value.embed]);

  const error = failure.value;
  const content = (
    <main id="content" class={`page-${route?.page ?? 'none'}`}>
      {current && (run !== null || error) && (
        <h1 class="visually-hidden">{[current.text, name === null ? '' : safeName(name)].filter(Boolean).join(', ')}</h1>
      )}
      {error && <RequestError error={error} retry={() => (generation.value += 1)} />}
      {children}
    </main>
  );
  const open = sheet.value;
  const sheets = (
    <>
      {open?.name === 'search' && <Search />}
      {open?.name === 'keys' && <Keys />}
      {open?.name === 'plan' && <PlanSheet {...open} key={`${open.kind} ${open.run} ${open.step}`} />}
      {open?.name === 'rollback' && <RollBackSheet {...open} key={`${open.kind} ${open.run} ${open.step}`} />}
      {open?.name === 'act' && <ActSheet {...open} key={JSON.stringify(open)} />}
    </>
  );
  if (view.value.embed) return <><StaleBadge />{content}{sheets}</>;
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => {
        event.preventDefault();
        document.querySelector<HTMLElement>('main')?.querySelector<HTMLElement>('a, button, [tabindex]')?.focus();
      }}>Skip to the content</a>
      <TopBar run={run} />
      <nav class="tabs" aria-label={run === null ? 'Pages' : 'Pages of the run'}>
        {tabs.map(({ page, text, icon, path, phone }) => (
          <Link key={page} to={path} current={page === route?.page} class={phone ? '' : 'not-phone'}>
            <Icon name={icon} size={18} />
            {text}
          </Link>
        ))}
        <RangeText show={run !== null} />
      </nav>
      {content}
      <StatusBar />
      {sheets}
    </>
  );
}

function RangeText({ show }: { show: boolean }) {
  const known = detail.value;
  if (!show || known?.first_step == null || known.last_step === null) return null;
  const [lo, hi] = view.value.range ?? [known.first_step, known.last_step];
  return <span class="range">Range {lo} – {hi}</span>;
}
