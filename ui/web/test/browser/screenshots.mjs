// Pictures of every page from a live demo, in both themes: node test/browser/screenshots.mjs FOLDER [SECONDS of demo].
// README shows some of them.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, settle } from './browser.mjs';
import { program } from './daemon.mjs';

const [folder, seconds = '32'] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: screenshots.mjs FOLDER [SECONDS]');
mkdirSync(folder, { recursive: true });
const home = mkdtempSync(join(tmpdir(), 'deltascope-pictures-'));
const demo = spawn(program, ['demo', '--serve', '--dir', join(home, 'demo'), '--listen', '127.0.0.1:0'], {
  env: { ...process.env, DELTASCOPE_HOME: join(home, 'home') },
});
const address = await new Promise((resolve) => demo.stdout.once('data', (data) => resolve(String(data).trim())));
const browser = await launch();
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(address);
  await page.locator('.topbar').waitFor();
  await page.waitForTimeout(Number(seconds) * 1000);
  const [base] = address.split('#');
  const pages = {
    runs: '', live: 'r/bucket', journal: 'r/bucket/journal', heatmap: 'r/bucket/heat', timeline: 'r/bucket/timeline', lineage: 'r/bucket/lineage',
    step: 'r/bucket/steps/60', diff: 'r/bucket/diff?a=50&b=60', bucket: 'r/bucket/bucket?prefix=deltas/', alerts: 'alerts',
    tasks: 'tasks', about: 'about',
  };
  for (const theme of ['dark', 'light']) {
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(`${base}${path}${path.includes('?') ? '&' : '?'}theme=${theme}`);
      await settle(page);
      await page.waitForTimeout(1500);
      await page.screenshot({ path: join(folder, `${name}-${theme}.png`) });
    }
  }
} finally {
  await browser.close();
  demo.kill('SIGTERM');
  await new Promise((resolve) => demo.once('exit', resolve));
  rmSync(home, { recursive: true, force: true });
}
