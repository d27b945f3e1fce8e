import { useEffect, useState } from 'preact/hooks';
import { ApiError, get, runPath } from '../../api/client';
import type { ListingPage, ListingRow } from '../../api/types';
import { generation } from '../../state/store';

const LIMIT = 1000; // keys per page

export interface Listing {
  rows: ListingRow[];
  next: string | null; // cursor; null: all are listed
  totals: ListingPage['totals'] | null;
  loading: boolean;
  error: ApiError | null;
  more: () => void;
  retry: () => void;
}

type State = Pick<Listing, 'rows' | 'next' | 'totals' | 'loading' | 'error'>;

const EMPTY: State = { rows: [], next: null, totals: null, loading: true, error: null };

/** Objects below a prefix, page by page. */
export function useListing(run: string, prefix: string): Listing {
  const [state, setState] = useState<State>(EMPTY);
  const [abort, setAbort] = useState<AbortController | null>(null);

  const load = (cursor: string | null, before: ListingRow[]): AbortController => {
    const control = new AbortController();
    const query = new URLSearchParams({ prefix, limit: String(LIMIT), ...(cursor === null ? {} : { cursor }) });
    setState((old) => ({ ...old, loading: true, error: null }));
    get<ListingPage>(`${runPath(run, 'objects')}?${query}`, control.signal).then(
      (page) => setState({ rows: [...before, ...page.objects], next: page.next_cursor, totals: page.totals, loading: false, error: null }),
      (error: unknown) => {
        if (!control.signal.aborted && error instanceof ApiError) setState((old) => ({ ...old, loading: false, error }));
      },
    );
    return control;
  };
  useEffect(() => {
    setState(EMPTY);
    const control = load(null, []);
    return () => {
      control.abort();
      abort?.abort();
    };
  }, [run, prefix, generation.value]);

  return {
    ...state,
    more: () => setAbort(load(state.next, state.rows)),
    retry: () => setAbort(load(state.rows.length === 0 ? null : state.next, state.rows)),
  };
}
