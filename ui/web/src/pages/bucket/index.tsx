import { Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { ListingRow } from '../../api/types';
import { pageParameter, setPageParameters } from '../../canvas/address';
import { FilterField } from '../../canvas/FilterField';
import { parseQuery, type Value } from '../../canvas/query';
import { useRoom } from '../../canvas/room';
import { Icon } from '../../components/Icon';
import { Link, runPage } from '../../components/Link';
import { Menu } from '../../components/Menu';
import { Name } from '../../components/Name';
import { StateIcon } from '../../components/StateIcon';
import { EmptyState, RequestError, Skeleton, StaleBadge } from '../../components/states';
import { Table, type Column } from '../../components/Table';
import { ago, bytes, exact, fullTime, safeName, unknown, plural } from '../../format';
import { detail, now } from '../../state/store';
import './bucket.css';
import { copies } from './copies';
import { Preview } from './Preview';
import { Totals } from './Totals';
import { useListing } from './useListing';

const FIELDS: Record<string, (row: ListingRow) => Value> = {
  kind: (row) => row.kind ?? (row.folder ? 'folder' : 'other'),
  state: (row) => row.state,
  step: (row) => row.step,
  size: (row) => row.size,
  needed: (row) => row.needed_by ?? null,
};

/** Objects as they lie in the bucket. */
export default function BucketPage({ runId = '' }: Record<string, string>) {
  const prefix = pageParameter('prefix') ?? '';
  const chosen = pageParameter('key');
  const [filter, setFilter] = useState('');
  const listing = useListing(runId, prefix);
  const room = useRoom(300);
  const query = useMemo(() => parseQuery(filter, FIELDS, ['step', 'size', 'needed'], (row) => row.key), [filter]);
  const rows = useMemo(() => listing.rows.filter(query.test), [listing.rows, query]);
  const open = (row: ListingRow): void =>
    setPageParameters(row.folder ? { prefix: row.key, key: null } : { key: row.key === chosen ? null : row.key });

  return (
    <div class="bucket">
      <div class="canvas-tools">
        <Path prefix={prefix} />
        <span class="canvas-end">
          <FilterField
            label="Filter objects" placeholder="kind:delta step:>1200 size:>10M" text={filter} setText={setFilter} error={query.error}
            found={`${exact(rows.length)} of ${exact(listing.rows.length)}${listing.next === null ? '' : ' loaded'}`}
          />
        </span>
        <StaleBadge />
      </div>
      {listing.error && <RequestError error={listing.error} retry={listing.retry} />}
      <div class={chosen === null ? '' : 'bucket-parts'}>
        <div class="bucket-list">
          {listing.rows.length === 0 ? (
            listing.loading ? <Skeleton rows={12} /> : !listing.error && <EmptyState title="Nothing lies here" />
          ) : (
            <Table
              label="Objects" columns={columns(runId, prefix)} rows={rows} id={(row) => row.key} height={room} onOpen={open}
              selected={(row) => row.key === chosen}
            />
          )}
          {listing.rows.length > 0 && (
            <p class="listed">
              {listing.next === null
                ? `${plural(listing.rows.length, 'row')}, all listed`
                : `Showing ${exact(listing.rows.length)}, there are more`}
              {rows.length < listing.rows.length && `, ${exact(rows.length)} match the filter`}
              {listing.next !== null && (
                <button type="button" disabled={listing.loading} onClick={listing.more}>Load the next 1,000</button>
              )}
            </p>
          )}
        </div>
        {chosen !== null && <Preview runId={runId} objectKey={chosen} row={listing.rows.find((row) => row.key === chosen) ?? null} />}
      </div>
      {listing.totals && <Totals totals={listing.totals} />}
    </div>
  );
}

/** The folders above. */
function Path({ prefix }: { prefix: string }) {
  const parts = prefix.split('/').filter((part) => part !== '');
  return (
    <nav class="trail" aria-label="Folders">
      <button type="button" class="link" onClick={() => setPageParameters({ prefix: null, key: null })}>
        <Name text={detail.value?.source ?? 'bucket'} limit={48} />
      </button>
      {parts.map((part, i) => (
        <Fragment key={i}>
          <span aria-hidden="true">›</span>
          <button type="button" class="link" onClick={() => setPageParameters({ prefix: `${parts.slice(0, i + 1).join('/')}/`, key: null })}>
            <Name text={part} limit={48} />
          </button>
        </Fragment>
      ))}
    </nav>
  );
}

function neededBy(row: ListingRow): string {
  if (row.needed_by === null || row.needed_by === undefined) return row.folder ? '' : unknown;
  return plural(row.needed_by, 'step');
}

function whyNeeded(row: ListingRow): string | undefined {
  if (row.folder || row.needed_by === undefined) return undefined;
  if (row.needed_by === 0) return 'Another form of its step makes up for it';
  if (row.needed_by !== null) return 'So many steps cannot be rebuilt any more if this object is lost';
  return row.step === null ? 'It belongs to no step' : 'Its step cannot be rebuilt';
}

function columns(runId: string, prefix: string): Column<ListingRow>[] {
  return [
    {
      id: 'name', head: 'name', key: (row) => row.key,
      cell: (row) => (
        <span class="object">
          <Icon name={row.folder ? 'folder' : 'list'} /> <Name text={row.key.startsWith(prefix) ? row.key.slice(prefix.length) : row.key} />
        </span>
      ),
    },
    { id: 'kind', head: 'kind', cell: (row) => (row.folder ? 'folder' : (row.kind?.replace('_', ' ') ?? 'other')), key: (row) => row.kind, narrow: true },
    {
      id: 'step', head: 'step', number: true, key: (row) => row.step,
      cell: (row) => (row.step === null ? unknown : <Link to={runPage(runId, 'steps', String(row.step))}>{row.step}</Link>),
    },
    {
      id: 'size', head: 'size', number: true, key: (row) => (row.folder ? null : row.size),
      cell: (row) => (row.folder ? '' : <span title={`${exact(row.size)} bytes`}>{bytes(row.size)}</span>),
    },
    {
      id: 'needed', head: 'needed by', number: true, key: (row) => row.needed_by ?? null, narrow: true,
      cell: (row) => <span title={whyNeeded(row)}>{neededBy(row)}</span>,
    },
    {
      id: 'modified', head: 'modified', number: true, key: (row) => row.modified_at || null, narrow: true,
      cell: (row) => <span title={fullTime(row.modified_at)}>{ago(row.modified_at, now.value)}</span>,
    },
    { id: 'state', head: 'state', cell: (row) => (row.state === null ? '' : <StateIcon state={row.state} />), key: (row) => row.state, narrow: true },
    { id: 'copy', head: <span class="visually-hidden">copy</span>, width: '40px', cell: (row) => <Menu label={`Copy ${safeName(row.key)}`} class="icon-button flat" items={copies(row)}><Icon name="copy" /></Menu> },
  ];
}
