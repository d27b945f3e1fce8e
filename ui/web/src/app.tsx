import { useEffect, useState } from 'preact/hooks';
import { session } from './api/client';
import { Chrome } from './chrome/Chrome';
import { SignIn } from './chrome/SignIn';
import { Opening } from './components/Opening';
import { EmptyState, Skeleton } from './components/states';
import { Link } from './components/Link';
import { Toasts } from './components/Toast';
import { loadPage, type Page } from './pages';
import { match, place } from './router';
import { detail, openRun } from './state/store';

/** The page of the address inside of the chrome, or the sign-in view. */
export function App() {
  const route = match(place.value.path);
  const [shown, setShown] = useState<{ name: string; page: Page | null } | null>(null);
  const name = route?.page ?? null;
  const run = route?.params.runId ?? null;

  useEffect(() => void (openRun.value = run), [run]);
  useEffect(() => {
    let overtaken = false;
    if (name !== null) void loadPage(name).then((page) => overtaken || setShown({ name, page }));
    return () => void (overtaken = true);
  }, [name]);

  if (session.value === 'signed-out') return <SignIn />;
  const opening = run !== null && detail.value?.id === run && detail.value.state === 'opening' ? detail.value : null;
  const Shown = shown && shown.name === name ? shown.page : null;
  return (
    <Chrome route={route}>
      {name === null || (shown?.name === name && shown.page === null) ? (
        <EmptyState page title="There is no such page">
          <p><Link to="" keep={false}>All runs</Link></p>
        </EmptyState>
      ) : opening ? (
        <Opening run={opening} />
      ) : Shown ? (
        <Shown key={run ?? ''} {...route?.params} />
      ) : (
        <Skeleton />
      )}
      <Toasts />
    </Chrome>
  );
}
