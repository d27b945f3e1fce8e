// Fails if what a browser loads before it shows the page Live is larger than the budget. Run after the build.
// usage: node size.mjs [FOLDER OF THE BUILT PAGE]
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const budget = 90_000; // bytes of JavaScript, gzip
const folder = process.argv[2];
const dist = folder ? pathToFileURL(`${resolve(folder)}/`) : new URL('../dist/', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('manifest.json', dist), 'utf8'));

const seen = new Set();
function visit(key) {
  if (seen.has(key)) return;
  seen.add(key);
  for (const next of manifest[key].imports ?? []) visit(next);
}
visit('index.html');
const live = 'src/pages/live/index.tsx';
visit(live);
for (const part of manifest[live].dynamicImports ?? []) visit(part); // its canvases

let total = 0;
for (const key of seen) {
  const { file } = manifest[key];
  const bytes = gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length;
  total += bytes;
  console.log(`${String(bytes).padStart(7)}  ${file}`);
}
console.log(`${String(total).padStart(7)}  of ${budget}`);
if (total > budget) {
  console.error('The first load is over its budget.');
  process.exit(1);
}
