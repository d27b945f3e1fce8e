import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, profile, settle, signIn } from '../browser.mjs';
import { Daemon } from '../daemon.mjs';

async function atStep(browser, options, test) {
  const daemon = new Daemon();
  daemon.add('trl-v1.2', 'wordle');
  await daemon.start(...options);
  const context = await profile(browser);
  try {
    const page = await context.newPage();
    await signIn(page, daemon);
    const run = (await daemon.get('runs')).runs[0].id;
    await page.goto(`${daemon.address}r/${run}/steps/5`);
    await settle(page);
    await test({ page, daemon, run });
    assert.deepEqual(context.complaints, []);
  } finally {
    await context.close();
    await daemon.remove();
  }
}

export const cases = {
  'a step is materialized after its plan was shown': (browser) =>
    atStep(browser, ['--allow-acts'], async ({ page, daemon }) => {
      const to = join(daemon.output, 'evaluated');
      await page.getByRole('button', { name: 'Materialize…' }).click();
      const sheet = page.getByRole('dialog');
      await sheet.getByLabel('Folder').fill('evaluated');
      await sheet.locator('code', { hasText: to }).waitFor();
      assert.equal(existsSync(to), false, 'a plan writes nothing');
      await sheet.getByRole('button', { name: 'Materialize' }).click();
      await page.waitForURL(/tasks\//);
      await page.getByText('Result').waitFor();
      await accessible(page, 'a finished task');
      assert.ok(existsSync(join(to, 'model.safetensors')) || existsSync(join(to, 'model.safetensors.index.json')), 'a checkpoint is there');
      await page.getByRole('link', { name: 'Tasks' }).click();
      await page.getByText('Materialize step 5').first().waitFor();
    }),
  'acts are explained, not offered, where the daemon only reads': (browser) =>
    atStep(browser, [], async ({ page }) => {
      assert.equal(await page.getByRole('button', { name: 'Materialize…' }).count(), 0);
      await page.getByText('without --allow-acts').first().waitFor();
      await page.keyboard.press('m');
      assert.equal(await page.getByRole('dialog').count(), 0);
    }),
};
