import { describe, expect, it } from 'vitest';
import { toCsv } from '../../src/canvas/export';
import { addressOf, quoted } from '../../src/pages/bucket/copies';
import { reportJsonl, reportMarkdown } from '../../src/pages/diff/report';
import { numbers } from '../../src/pages/heatmap/place';

describe('exports', () => {
  it('quotes CSV, leaves unknown empty and disarms formulas', () => {
    const csv = toCsv({ columns: [{ name: 'a' }, { name: 'b' }], rows: [['x,"y"', null], ['=1+1', -5], ['line\nbreak', 0]] });
    expect(csv).toBe('a,b\r\n"x,""y""",\r\n\'=1+1,-5\r\n"line\nbreak",0\r\n');
  });
  const report = { title: 'T', file: 'f', facts: [['n', '1']] as [string, string][], columns: ['tensor', 'n'], rows: [['<b>|`x`\u202e', 1], ['y', null]] };
  it('writes one JSON object per line', () => {
    expect(reportJsonl(report).trim().split('\n').map((line) => JSON.parse(line) as unknown)).toEqual([
      { tensor: '<b>|`x`\u202e', n: 1 }, { tensor: 'y', n: null },
    ]);
  });
  it('escapes what Markdown would read', () => {
    const text = reportMarkdown(report);
    expect(text).toContain('\\<b\\>\\|\\`x\\`');
    expect(text).not.toContain('\u202e');
    expect(text).toContain('| y | – |');
  });
});

describe('addresses', () => {
  it('joins source and key and quotes for the shell', () => {
    expect(addressOf('file:///data/run/', 'deltas/a.safetensors')).toBe('/data/run/deltas/a.safetensors');
    expect(addressOf('s3://bucket/run', 'a')).toBe('s3://bucket/run/a');
    expect(quoted('s3://bucket/run')).toBe('s3://bucket/run');
    expect(quoted("a b'; rm -rf ~")).toBe("'a b'\\''; rm -rf ~'");
  });
  it('takes only whole numbers from the address of a page', () => {
    expect(numbers('3,4', 2)).toEqual([3, 4]);
    for (const text of [null, '', '3', '3,4,5', '3,-4', '3,x']) expect(numbers(text, 2), String(text)).toBeNull();
  });
});
