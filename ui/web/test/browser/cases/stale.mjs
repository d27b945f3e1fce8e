import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noOverflow, profile, settle, signIn } from '../browser.mjs';
import { Daemon } from '../daemon.mjs';

const delta = (step) => `deltas/step_${String(step).padStart(6, '0')}.safetensors`;

/** A page of a run that is left open while the run changes. */
async function leftOpen(browser, path, test) {
  const daemon = new Daemon();
  const bucket = daemon.add('trl-v1.2', 'wordle');
  await daemon.start();
  const context = await profile(browser);
  try {
    const page = await context.newPage();
    await signIn(page, daemon);
    const run = (await daemon.get('runs')).runs[0].id;
    for (let i = 0; i < 100 && (await daemon.get(`runs/${run}/tensors`)).known_columns < 10; i += 1) await page.waitForTimeout(100);
    await page.goto(`${daemon.address}r/${run}/${path}`);
    await settle(page);
    await test({ page, bucket, context, run, daemon });
  } finally {
    await context.close();
    await daemon.remove();
  }
}

export const cases = {
  'a heatmap notices that a step is gone, and shows what a new page shows': (browser) =>
    leftOpen(browser, 'heat?b=11', async ({ page, bucket, context }) => {
      const canvas = page.getByRole('application');
      const columns = async () => Number(/by (\d+) steps/.exec(await canvas.getAttribute('aria-label'))[1]);
      const before = await columns();
      rmSync(join(bucket, delta(12)));
      await page.getByRole('application', { name: `by ${before - 1} steps` }).waitFor({ timeout: 30_000 });
      const table = () => page.locator('tbody').innerText();
      await page.getByRole('button', { name: 'Show as table' }).click();
      await page.waitForTimeout(3000); // events come in the meantime
      const open = await table();
      await page.reload();
      await settle(page);
      await page.getByRole('button', { name: 'Show as table' }).click();
      await page.waitForTimeout(1000);
      assert.equal(open, await table());
      assert.match(open, /2048\t[\d.]+ %\t[\d.]+ %/, 'shares and means are known');
      assert.deepEqual(context.complaints, []);
    }),
  'blocks of a rewritten object give way to the refusal, others stay': (browser) =>
    leftOpen(browser, 'heat?b=4&tensor=0', async ({ page, bucket, run, daemon }) => {
      const other = await page.context().newPage();
      await other.goto(`${daemon.address}r/${run}/heat?b=2&tensor=0`);
      await settle(other);
      const facts = (of) => of.getByLabel('About this tensor');
      await facts(page).waitFor();
      await facts(other).waitFor();
      const bytes = readFileSync(join(bucket, delta(4)));
      bytes[bytes.length - 1] ^= 1;
      writeFileSync(join(bucket, delta(4)), bytes);
      await page.locator('.banner').getByText(/DS-/).first().waitFor({ timeout: 30_000 });
      assert.equal(await facts(page).count(), 0, 'no old values stand beside the refusal');
      assert.equal(await facts(other).isVisible(), true, 'a step in front of it is what it was');
    }),
  'the top bar keeps the name of the run and the menu of the user': (browser) =>
    leftOpen(browser, 'heat', async ({ page }) => {
      for (const width of [1440, 1024, 901, 740]) {
        await page.setViewportSize({ width, height: 800 });
        await noOverflow(page, `the top bar, ${width} px wide`);
        const [name, user] = [page.locator('.run-name'), page.locator('.principal')];
        assert.ok((await name.boundingBox()).width > 30, `the name of the run is seen at ${width} px`);
        const box = await user.boundingBox();
        assert.ok(box.x + box.width <= width, `the menu of the user is whole at ${width} px`);
      }
    }),
};
