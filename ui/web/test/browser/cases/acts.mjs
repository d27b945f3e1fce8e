import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, profile, settle, signIn } from '../browser.mjs';
import { Daemon, program } from '../daemon.mjs';

async function atStep(browser, options, test, bucket = 'trl-v1.2') {
  const daemon = new Daemon();
  daemon.add(bucket, 'wordle');
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
      assert.equal(await sheet.locator('code', { hasText: '--for-training' }).count(), 0);
      await sheet.getByLabel('For training').check();
      await sheet.locator('code', { hasText: '--for-training' }).waitFor();
      assert.equal(existsSync(to), false, 'a plan writes nothing');
      await sheet.getByRole('button', { name: 'Materialize' }).click();
      await page.waitForURL(/tasks\//);
      await page.getByText('Result').waitFor();
      await page.getByText('training begins with new ones').waitFor();
      await accessible(page, 'a finished task');
      assert.ok(existsSync(join(to, 'model.safetensors')) || existsSync(join(to, 'model.safetensors.index.json')), 'a checkpoint is there');
      await page.getByRole('link', { name: 'Tasks' }).click();
      await page.getByText('Materialize step 5').first().waitFor();
    }),
  'what stopped rebuilds left is discarded after its plan was shown': (browser) =>
    atStep(browser, ['--allow-acts'], async ({ page, daemon }) => {
      const left = join(daemon.output, '.evaluated.ds-0123456789abcdef-2000000000-0badf00d');
      mkdirSync(left, { recursive: true });
      await page.keyboard.press('/');
      await page.keyboard.type('Discard leftovers');
      await page.keyboard.press('Enter');
      const sheet = page.getByRole('dialog', { name: 'Discard leftovers' });
      await sheet.getByText(`Remove ${left}`).waitFor();
      assert.ok(existsSync(left), 'a plan removes nothing');
      await accessible(page, 'the plan of a discard');
      await sheet.getByRole('button', { name: 'Discard leftovers' }).click();
      await sheet.waitFor({ state: 'detached' });
      assert.equal(existsSync(left), false);
    }),
  'a step is published after its plan was shown': (browser) =>
    atStep(browser, ['--allow-acts'], async ({ page, daemon, run }) => {
      mkdirSync(daemon.output, { recursive: true });
      const newest = (await daemon.get(`runs/${run}/steps`)).steps.at(-1).step;
      for (const [step, name] of [[newest, 'newest'], [newest - 2, 'next']])
        execFileSync(program, ['materialize', `${daemon.sources[0]}@${step}`, '-o', join(daemon.output, name)], { env: { ...process.env, DELTASCOPE_HOME: join(daemon.home, 'other') } });
      await page.keyboard.press('/');
      await page.keyboard.type('Publish a step');
      await page.keyboard.press('Enter');
      const sheet = page.getByRole('dialog', { name: 'Publish a step' });
      await sheet.getByLabel('From').fill('newest');
      await sheet.getByLabel('To', { exact: true }).fill('next');
      const object = `deltas/step_${String(newest + 1).padStart(6, '0')}.safetensors`;
      await sheet.getByText(`Write ${object}`).waitFor();
      const file = join(daemon.sources[0], object);
      assert.equal(existsSync(file), false, 'a plan writes nothing');
      await accessible(page, 'the plan of a publication');
      await sheet.getByRole('button', { name: 'Publish a step' }).click();
      await sheet.waitFor({ state: 'detached' });
      assert.ok(existsSync(file), 'the step is there');
      await page.goto(`${daemon.address}tasks`);
      await page.getByRole('link', { name: 'Publish a step into wordle' }).click();
      await page.getByText(`step ${newest + 1}, delta`).waitFor();
      await accessible(page, 'a published step');
    }, 'trl-v2-gap'),
  'rewritten objects are used only behind a refusal and a second look': (browser) =>
    atStep(browser, ['--allow-acts'], async ({ page, daemon, run }) => {
      const verified = async (wanted) => {
        for (let i = 0; i < 300; i += 1) {
          const { steps } = await daemon.get(`runs/${run}/steps`);
          if (steps.filter(({ kind }) => kind !== 'gap').every(wanted)) return;
          await page.waitForTimeout(100);
        }
        assert.fail('the background verification is late');
      };
      await verified((step) => step.verified);
      const key = 'deltas/step_000004.safetensors';
      const file = join(daemon.sources[0], key);
      const bytes = readFileSync(file);
      bytes[bytes.length - 1] ^= 1;
      writeFileSync(file, bytes);
      await verified((step) => step.step !== 4 || step.verified?.problem?.code === 'DS-REWRITTEN');
      const task = async (button) => {
        const before = page.url();
        await button.click();
        await page.waitForURL((url) => url.pathname.includes('tasks/') && url.href !== before);
      };
      await page.getByRole('button', { name: 'Materialize…' }).click();
      const sheet = page.getByRole('dialog');
      assert.equal(await sheet.getByText('not those first read').count(), 0, 'nothing is offered before it is refused');
      await sheet.locator('code', { hasText: 'deltascope materialize' }).waitFor();
      await task(sheet.getByRole('button', { name: 'Materialize' }));
      await page.getByText('Code DS-REWRITTEN').waitFor();
      const offer = page.getByRole('region', { name: 'Rewritten objects' });
      const words = 'Use the bytes that are there now, which are not those first read';
      await offer.getByRole('button', { name: `${words}…` }).click();
      await offer.locator('code', { hasText: '--accept-rewritten' }).waitFor();
      await accessible(page, 'the offer to accept rewritten objects');
      await task(offer.getByRole('button', { name: words, exact: true }));
      await page.getByText('1 object was used although rewritten since first read').click();
      await page.getByText(key, { exact: true }).waitFor();
      await page.goto(`${daemon.address}r/${run}`);
      await page.getByText('Step 4 is no longer what was first read').waitFor();
    }),
  'acts are explained, not offered, where the daemon only reads': (browser) =>
    atStep(browser, [], async ({ page }) => {
      assert.equal(await page.getByRole('button', { name: 'Materialize…' }).count(), 0);
      await page.getByText('without --allow-acts').first().waitFor();
      await page.keyboard.press('m');
      assert.equal(await page.getByRole('dialog').count(), 0);
    }),
};
