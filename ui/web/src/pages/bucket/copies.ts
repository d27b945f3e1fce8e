import type { ListingRow } from '../../api/types';
import type { MenuItem } from '../../components/Menu';
import { copyText } from '../../components/states';
import { toast } from '../../components/Toast';
import { detail } from '../../state/store';

/** For a POSIX shell. */
export const quoted = (word: string): string => (/^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Address of an object; a path where the source is a folder. */
export function addressOf(source: string, key: string): string {
  const root = source.replace(/^file:\/\//, '').replace(/\/+$/, '');
  return `${root}/${key}`;
}

/** What can be copied about an object. */
export function copies(row: ListingRow): MenuItem[] {
  const source = detail.value?.source ?? '';
  const item = (text: string, content: string): MenuItem => ({
    text, act: () => void copyText(content).then(() => toast(`${text} copied`)),
  });
  const items = [item('Key', row.key), item(source.startsWith('file:') || source.startsWith('/') ? 'Path' : 'Address', addressOf(source, row.key))];
  if (row.step !== null) items.push(item('Command', `deltascope show ${quoted(source)} ${row.step}`));
  return items;
}
