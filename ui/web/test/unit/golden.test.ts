import { expect, test } from 'vitest';
import alerts from '../../../../tests/golden/view/alerts.json';
import heatIndex from '../../../../tests/golden/view/heat_index.json';
import lineage from '../../../../tests/golden/view/lineage.json';
import listing from '../../../../tests/golden/view/listing.json';
import plan from '../../../../tests/golden/view/plan.json';
import replica from '../../../../tests/golden/view/replicas.json';
import run from '../../../../tests/golden/view/run.json';
import series from '../../../../tests/golden/view/series.json';
import steps from '../../../../tests/golden/view/steps.json';
import task from '../../../../tests/golden/view/task.json';
import tensors from '../../../../tests/golden/view/tensors.json';
import timeline from '../../../../tests/golden/view/timeline.json';
import type * as api from '../../src/api/types';
import { itemsOf, replayPath } from '../../src/canvas/chains';
import { stretches } from '../../src/canvas/phases';
import { rowTree } from '../../src/canvas/rows';
import { lagSeries } from '../../src/pages/live/lag';
import { progressTexts } from '../../src/pages/tasks/progress';

// What the server writes (tests/app/view_golden_test.cpp keeps these files true) is what the page reads. The compiler
// compares every key; a word of a union is a string in JSON, and a fixed number a number.
type Read<T> = T extends string ? string : T extends number ? number : T extends readonly (infer U)[] ? Read<U>[] : T extends object ? { [K in keyof T]: Read<T[K]> } : T;
const read = <T>(document: Read<T>): T => document as T;

test('the lineage of the server is drawn', () => {
  const { rows } = read<api.Lineage>(lineage);
  expect(itemsOf(rows, new Map(), new Set()).length).toBeGreaterThan(0);
  const path = replayPath(rows, 0);
  expect([...path].map((at) => rows[at]?.kind)).toContain('anchor');
});

test('the bars of the server sum up to their length', () => {
  const { bars } = read<api.Timeline>(timeline);
  expect(bars.length).toBeGreaterThan(0);
  for (const bar of bars) {
    expect(stretches(bar).at(-1)?.to).toBeCloseTo(bar.total_ms, 3);
  }
});

test('the tensors of the server are the rows of the heatmap', () => {
  const table = read<api.TensorTable>(tensors);
  const index = read<api.HeatIndex>(heatIndex);
  expect(table.tensors.length).toBe(index.rows);
  const leaves = (nodes: ReturnType<typeof rowTree>): number =>
    nodes.reduce((n, node) => n + (node.children.length > 0 ? leaves(node.children) : 1), 0);
  expect(leaves(rowTree(table.tensors))).toBe(index.rows);
});

test('the series of the server have four values for each x', () => {
  for (const columns of Object.values(read<api.Series>(series).series)) {
    for (const part of [columns.first, columns.min, columns.max, columns.last]) expect(part.length).toBe(columns.x.length);
  }
});

test('run, replicas, tasks, plans, alerts and listings have the keys that the page reads', () => {
  const detail = read<api.RunDetail>(run);
  expect(read<(api.Step | api.Gap)[]>(steps).length).toBeGreaterThan(0);
  expect(lagSeries([read<api.Replica>(replica)], detail.kpi.newest ?? 0).length).toBe(1);
  expect(progressTexts(read<api.Task>(task)).length).toBeGreaterThan(0);
  expect(read<api.Plan>(plan).steps.length).toBeGreaterThan(0);
  expect(read<api.AlertList>(alerts).rules.length).toBe(16);
  expect(read<api.ListingPage>(listing).objects.length).toBeGreaterThan(0);
});
