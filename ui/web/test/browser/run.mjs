// Browser tests against the real daemon: node test/browser/run.mjs [part of a name]. The page has to be built into the
// daemon. DELTASCOPE names the program, CHROMIUM the browser.
import { readdirSync } from 'node:fs';
import { lastShown, launch } from './browser.mjs';

const wanted = process.argv[2] ?? '';
const files = readdirSync(new URL('./cases/', import.meta.url)).filter((name) => name.endsWith('.mjs')).sort();
const browser = await launch();
let failed = 0;
let ran = 0;
for (const file of files) {
  const { cases } = await import(new URL(`./cases/${file}`, import.meta.url));
  for (const [name, run] of Object.entries(cases)) {
    const title = `${file.replace('.mjs', '')}: ${name}`;
    if (!title.includes(wanted)) continue;
    ran += 1;
    const started = Date.now();
    try {
      await run(browser);
      console.log(`ok    ${title}  ${((Date.now() - started) / 1000).toFixed(1)} s`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${title}\n${error.stack ?? error}\n  the pages showed:\n${lastShown()}`);
    }
  }
}
await browser.close();
console.log(ran === 0 ? 'no test has this name' : failed === 0 ? 'all good' : `${failed} failed`);
process.exit(ran > 0 && failed === 0 ? 0 : 1);
