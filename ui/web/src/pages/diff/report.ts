// A comparison as CSV, JSON Lines or Markdown.

import { toCsv, type Cell } from '../../canvas/export';
import { safeName } from '../../format';

export interface Report {
  title: string;
  file: string; // without extension
  facts: [name: string, value: string][];
  columns: string[];
  rows: Cell[][];
}

/** Rows of the table that a Markdown summary holds. */
const SUMMARY = 20;

export const reportCsv = ({ columns, rows }: Report): string => toCsv({ columns: columns.map((name) => ({ name })), rows });

export function reportJsonl({ columns, rows }: Report): string {
  return rows.map((row) => JSON.stringify(Object.fromEntries(columns.map((name, i) => [name, row[i] ?? null]))) + '\n').join('');
}

export function reportMarkdown({ title, facts, columns, rows }: Report): string {
  const cell = (value: Cell): string => (value === null ? '–' : safeName(String(value)).replace(/[|\\`<>*_[\]]/g, '\\$&'));
  const line = (cells: readonly Cell[]): string => `| ${cells.map(cell).join(' | ')} |`;
  const more = rows.length > SUMMARY ? [`\n${rows.length - SUMMARY} more rows.`] : [];
  return [
    `# ${title}\n`, ...facts.map(([name, value]) => `- ${name}: ${value}`), '', line(columns),
    `|${columns.map(() => ' --- ').join('|')}|`, ...rows.slice(0, SUMMARY).map(line), ...more, '',
  ].join('\n');
}
