import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, noOverflow, profile, settle, signIn } from '../browser.mjs';
import { Daemon } from '../daemon.mjs';

const deltas = (bucket) => readdirSync(join(bucket, 'deltas')).sort();

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

async function onLive(browser, options, test, golden = 'trl-v2-gap', screen = {}) {
  const daemon = new Daemon();
  const bucket = daemon.add(golden, 'wordle');
  await daemon.start(...options);
  const context = await profile(browser, screen);
  try {
    const page = await context.newPage();
    await signIn(page, daemon);
    const run = (await daemon.get('runs')).runs[0].id;
    await page.goto(`${daemon.address}r/${run}?b=12`);
    await settle(page);
    await test({ page, daemon, run, bucket });
    const refused = /status of 400/; // the browser's own line about a plan that the daemon does not make
    assert.deepEqual(context.complaints.filter((complaint) => !refused.test(complaint)), []);
  } finally {
    await context.close();
    await daemon.remove();
  }
}

const acts = async (page, step, item) => {
  await page.getByRole('button', { name: `Acts on step ${step}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

export const cases = {
  'a run is rolled back in three clicks, and the roll back is undone': (browser) =>
    onLive(browser, ['--allow-acts'], async ({ page, daemon, run, bucket }) => {
      const before = deltas(bucket);
      await acts(page, 12, 'Roll back to it…');
      const wizard = page.getByRole('dialog', { name: 'Roll back wordle to step 12' });
      const now = wizard.getByRole('button', { name: 'Roll back now' });
      const confirm = wizard.getByLabel('Type wordle to confirm');
      await confirm.waitFor();
      assert.ok(await now.isDisabled(), 'the name of the run is asked for');
      await confirm.fill('wordl');
      assert.ok(await now.isDisabled(), 'another name is not enough');
      await wizard.getByText('Nothing is overwritten or deleted.').waitFor();
      await wizard.getByText('deltascope rollback').waitFor();
      await accessible(page, 'the plan of a roll back');
      await noOverflow(page, 'the plan of a roll back');
      assert.deepEqual(deltas(bucket), before, 'a plan writes nothing');
      await confirm.fill('wordle');
      await now.click();
      await wizard.getByText('Step 16 restores step 12.').waitFor();
      await wizard.getByText('Who has loaded it is not known here').waitFor();
      await accessible(page, 'the end of a roll back');
      const written = deltas(bucket).filter((name) => !before.includes(name));
      assert.ok(written.length > 0 && written.every((name) => name.includes('000016')), `written: ${written}`);
      await wizard.getByRole('button', { name: 'Close', exact: true }).last().click();
      await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
      const undo = page.getByRole('dialog', { name: 'Undo the roll back of wordle' });
      await undo.getByLabel('Type wordle to confirm').fill('wordle');
      await undo.getByRole('button', { name: 'Undo now' }).click();
      await undo.getByText('Step 17 restores step 15.').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Journal' }).click();
      await page.getByText('The newest step, 17, restores step 15.').waitFor();
      const rows = page.getByRole('table', { name: 'Journal' }).getByRole('row');
      await rows.filter({ hasText: 'rollback' }).first().waitFor();
      await accessible(page, 'the journal');
      const { steps } = await daemon.get(`runs/${run}/steps`);
      assert.deepEqual(steps.slice(-2).map(({ step, restores }) => [step, restores]), [[16, 12], [17, 15]]);
    }),
  'a plan that is closed is dropped, and the newest step is not offered': (browser) =>
    onLive(browser, ['--allow-acts'], async ({ page, daemon, bucket }) => {
      const before = deltas(bucket);
      const made = page.waitForResponse((answer) => answer.url().endsWith('/plans'));
      await acts(page, 12, 'Roll back to it…');
      const { id } = await (await made).json();
      const dropped = page.waitForResponse((answer) => answer.url().endsWith(`/plans/${id}/drop`));
      await page.keyboard.press('Escape');
      assert.equal((await dropped).status(), 200);
      await assert.rejects(daemon.get(`plans/${id}`), /404/);
      assert.deepEqual(deltas(bucket), before);
      await page.keyboard.press('f');
      await page.getByRole('button', { name: 'Acts on step 15' }).click();
      assert.ok(await page.getByRole('menuitem', { name: 'Roll back to it…' }).isDisabled());
    }),
  'a step is named, pinned and written about, and the name is removed': (browser) =>
    onLive(browser, ['--allow-acts'], async ({ page, run, daemon }) => {
      await acts(page, 12, 'Name this step…');
      const sheet = page.getByRole('dialog');
      assert.ok(await sheet.getByRole('button', { name: 'Name this step' }).isDisabled(), 'a name is needed');
      await sheet.getByLabel('Name', { exact: true }).fill('no good');
      await sheet.getByRole('alert').waitFor();
      assert.ok(await sheet.getByRole('button', { name: 'Name this step' }).isDisabled(), 'that is no name');
      await sheet.getByLabel('Name', { exact: true }).fill('good');
      await sheet.locator('code', { hasText: 'ref' }).filter({ hasText: 'good' }).waitFor();
      await accessible(page, 'the sheet of a name');
      await sheet.getByRole('button', { name: 'Name this step' }).click();
      await sheet.waitFor({ state: 'detached' });
      await acts(page, 12, 'Write a note…');
      await sheet.getByLabel('Note', { exact: true }).fill('best eval so far');
      await sheet.locator('code', { hasText: 'best eval' }).waitFor();
      await sheet.getByRole('button', { name: 'Write a note' }).click();
      await sheet.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Journal' }).click();
      await page.getByRole('table', { name: 'Notes' }).getByText('best eval so far').waitFor();
      await page.getByRole('button', { name: 'Remove good…' }).click();
      await sheet.getByRole('button', { name: 'Remove the name' }).click();
      await sheet.waitFor({ state: 'detached' });
      await page.getByText('No step has a name').waitFor();
      const { refs, journal } = await daemon.get(`runs/${run}/annotations`);
      assert.equal(refs.length, 0);
      assert.ok(journal.length >= 3);
    }),
  'a new run begins with the state of a step, and its task says where': (browser) =>
    onLive(browser, ['--allow-acts'], async ({ page, daemon }) => {
      await acts(page, 12, 'Branch from here…');
      const sheet = page.getByRole('dialog');
      const begin = sheet.getByRole('button', { name: 'Branch from here' });
      assert.ok(await begin.isDisabled(), 'a place is needed');
      await sheet.getByLabel('Into').fill('branched');
      await sheet.getByText('step 12, which is').waitFor();
      await sheet.locator('code', { hasText: 'deltascope branch' }).waitFor();
      assert.equal(await sheet.locator('code', { hasText: '--sole-writer' }).count(), 0);
      await sheet.getByLabel('Nobody else publishes there').check();
      await sheet.locator('code', { hasText: '--sole-writer' }).waitFor();
      await sheet.getByText('2 journal entries, 1 lease, 1 list of spans').waitFor();
      await accessible(page, 'the sheet of a branch');
      await noOverflow(page, 'the sheet of a branch');
      await begin.click();
      await sheet.waitFor({ state: 'detached' });
      assert.ok(readdirSync(join(daemon.output, 'branched', 'anchors')).length > 0, 'the new run is there');
      await page.getByRole('link', { name: 'Tasks' }).click();
      await page.getByRole('link', { name: 'Branch step 12 of wordle' }).click();
      await page.getByText(join(daemon.output, 'branched')).first().waitFor();
      await page.getByText('the state of step 12').waitFor();
      await accessible(page, 'the task of a branch');
    }),
  'acts and the journal are in reach on a phone': (browser) =>
    onLive(browser, ['--allow-acts'], async ({ page }) => {
      await page.getByRole('button', { name: 'Acts on step 12' }).tap();
      const list = page.getByRole('menu', { name: 'Acts on step 12' });
      const { x, width } = await list.boundingBox();
      assert.ok(x >= 0 && x + width <= phone.viewport.width, `the list is from ${x} to ${x + width}`);
      await accessible(page, 'acts on a phone');
      await page.getByRole('menuitem', { name: 'Name this step…' }).tap();
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('good');
      await noOverflow(page, 'the sheet of a name on a phone');
      await page.getByRole('dialog').getByRole('button', { name: 'Name this step' }).tap();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Journal' }).tap();
      await page.getByRole('table', { name: 'Names and pins' }).getByText('good').waitFor();
    }, 'trl-v2-gap', phone),
  'where nothing can be published, the wizard says what can be done': (browser) =>
    onLive(browser, ['--allow-acts'], async ({ page, daemon, run }) => {
      const [{ epoch, step }] = (await daemon.get(`runs/${run}/steps`)).steps;
      await page.goto(`${daemon.address}r/${run}/steps/${epoch}:${step}`);
      await page.getByRole('button', { name: 'Roll back…' }).click();
      const wizard = page.getByRole('dialog');
      await wizard.getByText('DS-UNSUPPORTED').waitFor();
      const commands = wizard.getByLabel('Command line');
      assert.deepEqual(await commands.count(), 1, 'the roll back itself is not offered as a command');
      assert.match(await commands.innerText(), /^deltascope materialize .*-o DIR$/);
      assert.ok(await wizard.getByRole('button', { name: 'Roll back now' }).isDisabled());
      await accessible(page, 'a roll back that is not possible');
    }, 'grail'),
  'nothing is offered where the daemon only reads': (browser) =>
    onLive(browser, [], async ({ page, daemon, run }) => {
      assert.equal(await page.getByRole('button', { name: /^Acts on/ }).count(), 0);
      await page.keyboard.press('b');
      assert.equal(await page.getByRole('dialog').count(), 0);
      await page.goto(`${daemon.address}r/${run}/journal`);
      await page.getByText('Nothing is in the journal').waitFor();
      assert.equal(await page.getByRole('button', { name: /Undo|Remove/ }).count(), 0);
    }),
};
