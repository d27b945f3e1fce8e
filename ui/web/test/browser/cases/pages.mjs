import assert from 'node:assert/strict';
import { accessible, noOverflow, profile, settle, signIn } from '../browser.mjs';
import { Daemon } from '../daemon.mjs';

const sound = 'trl-v1.2';
const damaged = 'trl-v2-bitflip';

async function withDaemon(browser, options, test) {
  const daemon = new Daemon();
  daemon.add(sound);
  daemon.add(damaged);
  await daemon.start('--allow-acts');
  const context = await profile(browser, options);
  try {
    const page = await context.newPage();
    await signIn(page, daemon);
    const { runs } = await daemon.get('runs');
    const run = runs.find(({ source }) => source.includes(sound)).id;
    const other = runs.find(({ source }) => source.includes(damaged)).id;
    const paths = [
      '', `r/${run}`, `r/${other}`, `r/${run}/heat`, `r/${run}/timeline`, `r/${run}/lineage`, `r/${run}/steps/3`, `r/${run}/diff?a=2&b=5`,
      `r/${run}/bucket`, `r/${run}/bucket?prefix=deltas/`, `r/${run}/journal`, 'tasks', 'alerts', 'about', 'no-such-page',
    ];
    await test({ page, daemon, run, paths });
    assert.deepEqual(context.complaints, []);
  } finally {
    await context.close();
    await daemon.remove();
  }
}

async function eachPage(browser, options) {
  await withDaemon(browser, options, async ({ page, daemon, paths }) => {
    const wrong = [];
    for (const path of paths) {
      await page.goto(daemon.address + path);
      await settle(page);
      if ((await page.locator('main h1').count()) === 0) wrong.push(`${path}: no headline`);
      if ((await page.locator('main').innerText()).length < 20) wrong.push(`${path}: nothing is shown`);
      if ((await page.getByText('Retry', { exact: true }).count()) > 0) wrong.push(`${path}: shows an error`);
      for (const check of [accessible, noOverflow]) await check(page, path).catch((error) => wrong.push(error.message));
    }
    assert.deepEqual(wrong, []);
  });
}

export const cases = {
  'each page renders and is accessible, light': (browser) => eachPage(browser, { colorScheme: 'light' }),
  'each page renders and is accessible, dark': (browser) => eachPage(browser, { colorScheme: 'dark' }),
  'each page fits a phone': (browser) => eachPage(browser, { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }),
  'each page fits 320 px': (browser) => eachPage(browser, { colorScheme: 'light', viewport: { width: 320, height: 640 } }),
  'dialogs are accessible and give the focus back': (browser) =>
    withDaemon(browser, { colorScheme: 'dark' }, async ({ page, daemon, run }) => {
      await page.goto(`${daemon.address}r/${run}/steps/3`);
      await settle(page);
      for (const [key, title] of [['?', 'Shortcuts'], ['/', 'Search'], ['e', 'Verify step 3'], ['m', 'Materialize step 3']]) {
        await page.keyboard.press(key);
        await page.getByRole('dialog', { name: title }).waitFor();
        await settle(page);
        await accessible(page, title);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      const verify = page.getByRole('button', { name: 'Verify…' });
      await verify.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      assert.ok(await verify.evaluate((button) => button === document.activeElement), 'the focus went back');
    }),
};
