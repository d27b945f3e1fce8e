import assert from 'node:assert/strict';
import { profile, settle, signIn } from '../browser.mjs';
import { Daemon } from '../daemon.mjs';

async function opened(browser, test, ...options) {
  const daemon = new Daemon();
  daemon.add('trl-v1.2', 'wordle');
  await daemon.start(...options);
  const context = await profile(browser);
  try {
    const page = await context.newPage();
    await signIn(page, daemon);
    const run = (await daemon.get('runs')).runs[0].id;
    await test({ page, daemon, run });
    assert.deepEqual(context.complaints, []);
  } finally {
    await context.close();
    await daemon.remove();
  }
}

async function permalinks({ page, daemon, run }) {
  assert.ok(!page.url().includes('#k='), 'the code is not kept in the address');
  await page.goto(`${daemon.address}r/${run}?b=5&a=3&range=2-9&theme=dark`);
  await settle(page);
  const shown = async () => [
    await page.getByLabel('Step B').inputValue(), await page.getByLabel('Step A').inputValue(),
    await page.locator('html').getAttribute('data-theme'), await page.locator('.tabs .range').innerText(),
  ];
  assert.deepEqual(await shown(), ['5', '3', 'dark', 'Range 2 – 9']);
  await page.reload();
  await settle(page);
  assert.deepEqual(await shown(), ['5', '3', 'dark', 'Range 2 – 9']);

  await page.getByRole('link', { name: 'Lineage' }).click();
  await settle(page);
  assert.match(page.url(), /\/lineage\?.*b=5/);
  assert.equal(await page.getByLabel('Step B').inputValue(), '5');
  await page.goBack();
  await settle(page);
  assert.match(page.url(), new RegExp(`r/${run}\\?`));

  await page.getByLabel('Step B').fill('7');
  await page.keyboard.press('Enter');
  await page.waitForURL(/b=7/);
  await page.goto(`${daemon.address}r/${run}?embed=1`);
  await settle(page);
  assert.equal(await page.locator('.topbar, .tabs, .statusbar').count(), 0);
}

export const cases = {
  'hold the view, through reload and history': (browser) => opened(browser, permalinks),
  'work below a base path': (browser) => opened(browser, permalinks, '--base-path', '/rl/'),
  'lead to a message where nothing is': (browser) =>
    opened(browser, async ({ page, daemon, run }) => {
      await page.goto(`${daemon.address}r/${run}/nothing`);
      await page.getByText('There is no such page').waitFor();
    }),
};
