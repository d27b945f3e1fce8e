import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, noOverflow, profile, settle, signIn } from '../browser.mjs';
import { Daemon, golden, token } from '../daemon.mjs';

const last = 'deltas/step_000013.safetensors';

/** A daemon on a bucket that lacks its last step, and two tabs. */
async function twoTabs(browser, test) {
  const daemon = new Daemon();
  const bucket = daemon.add('trl-v1.2', 'wordle', (path) => !path.endsWith(last));
  await daemon.start('--allow-acts');
  const context = await profile(browser);
  try {
    const streams = [];
    context.on('request', (request) => request.url().includes('/api/v1/events') && streams.push(request.url()));
    const first = await context.newPage();
    await signIn(first, daemon);
    const run = (await daemon.get('runs')).runs[0].id;
    const second = await context.newPage();
    for (const page of [first, second]) {
      await page.goto(`${daemon.address}r/${run}`);
      await settle(page);
    }
    const publish = () => cpSync(join(golden('trl-v1.2'), last), join(bucket, last));
    await test({ daemon, context, first, second, streams, publish, run });
  } finally {
    await context.close();
    await daemon.remove();
  }
}

const latest = (page, step) => page.locator('.kpi-value', { hasText: new RegExp(`^${step}$`) }).first().waitFor({ timeout: 20_000 });

export const cases = {
  'a published step appears in all tabs through one stream': (browser) =>
    twoTabs(browser, async ({ context, first, second, streams, publish }) => {
      await latest(first, 12);
      await latest(second, 12);
      const before = streams.length;
      publish();
      await latest(first, 13);
      await latest(second, 13);
      assert.equal(streams.length, before, 'no further stream was opened');
      await first.close();
      await second.waitForTimeout(1000);
      assert.equal(streams.length, before + 1, 'the other tab took over');
      assert.deepEqual(context.complaints, []);
    }),
  'a restarted daemon is noticed; signing in again shows its data': (browser) =>
    twoTabs(browser, async ({ daemon, first, second, publish }) => {
      await daemon.stop();
      await first.waitForTimeout(1500);
      assert.equal(await first.locator('.kpi-value').first().isVisible(), true, 'what was known stays visible');
      publish();
      await daemon.start('--allow-acts');
      await first.getByLabel('Code or token').waitFor({ timeout: 30_000 });
      await signIn(first, daemon, token);
      await latest(first, 13);
      await second.bringToFront();
      await latest(second, 13);
    }),
  'a run with a lost delta is shown as broken at first glance': async (browser) => {
    const daemon = new Daemon();
    daemon.add('trl-v2-gap-in-chain', 'wordle'); // the delta of step 6 is gone
    await daemon.start();
    const context = await profile(browser);
    try {
      const page = await context.newPage();
      await signIn(page, daemon);
      const run = (await daemon.get('runs')).runs[0].id;
      await page.goto(`${daemon.address}r/${run}`);
      await settle(page);
      const tile = page.locator('.live-page > :first-child');
      await tile.getByText('Step 6 is lost: steps 7 to 9 cannot be rebuilt').waitFor();
      await tile.getByText('Can be restored: steps 1 to 5, and from 10 on').waitFor();
      await tile.getByText('Put step 6 back').waitFor();
      assert.equal(await tile.getByText('DS-').isVisible(), false, 'words of developers stand behind Details');
      await tile.getByText('Details').click();
      await tile.getByText('Bytes as first read, which may be just now, to step 5').waitFor({ timeout: 20_000 });
      await tile.getByText('DS-CHAIN-GAP').waitFor();
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await noOverflow(page, `a broken run, ${width} px wide`);
      }
      await accessible(page, 'a broken run');
      assert.deepEqual(context.complaints, []);
    } finally {
      await context.close();
      await daemon.remove();
    }
  },
  'lost contact is said after 40 s, on all sizes': async (browser) => {
    const daemon = new Daemon();
    daemon.add('trl-v1.2', 'wordle');
    await daemon.start();
    const context = await profile(browser);
    try {
      const page = await context.newPage();
      await page.clock.install();
      await signIn(page, daemon);
      await settle(page);
      const badge = page.locator('.stale:visible');
      assert.equal(await badge.count(), 0);
      await daemon.stop();
      await page.clock.fastForward(45_000);
      await badge.waitFor();
      assert.match(await badge.innerText(), /no contact for 4\d s/);
      await page.setViewportSize({ width: 390, height: 844 });
      assert.equal(await badge.count(), 1);
    } finally {
      await context.close();
      await daemon.remove();
    }
  },
};
