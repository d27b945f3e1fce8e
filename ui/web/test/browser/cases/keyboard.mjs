import assert from 'node:assert/strict';
import { profile, settle, signIn } from '../browser.mjs';
import { Daemon } from '../daemon.mjs';

async function opened(browser, test) {
  const daemon = new Daemon();
  daemon.add('trl-v1.2', 'wordle');
  await daemon.start('--allow-acts');
  const context = await profile(browser);
  try {
    const page = await context.newPage();
    await signIn(page, daemon);
    await settle(page);
    await test({ page, daemon, run: (await daemon.get('runs')).runs[0].id });
    assert.deepEqual(context.complaints, []);
  } finally {
    await context.close();
    await daemon.remove();
  }
}

export const cases = {
  'is enough to go from the list of runs to a verified step': (browser) =>
    opened(browser, async ({ page, run }) => {
      const link = page.locator('.run-card h2 a');
      for (let i = 0; i < 40 && !(await link.evaluate((a) => a === document.activeElement)); i += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL(new RegExp(`r/${run}$`));
      await settle(page);
      await page.keyboard.press('/');
      await page.keyboard.type('3');
      await page.getByRole('option', { name: 'Open step 3' }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Step 3' }).waitFor();
      await page.keyboard.press('e');
      await page.getByRole('dialog', { name: 'Verify step 3' }).waitFor();
      const start = page.getByRole('dialog').getByRole('button', { name: 'Verify' });
      await page.locator('dialog button.primary:enabled').waitFor();
      for (let i = 0; i < 20 && !(await start.evaluate((b) => b === document.activeElement)); i += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL(/tasks\//);
      await page.getByText('done').first().waitFor();
    }),
  'shows where the focus is, on everything that can have it': (browser) =>
    opened(browser, async ({ page, daemon, run }) => {
      for (const path of ['', `r/${run}`, `r/${run}/steps/3`, 'alerts']) {
        await page.goto(daemon.address + path);
        await settle(page);
        for (let i = 0; i < 60; i += 1) {
          await page.keyboard.press('Tab');
          const problem = await page.evaluate(() => {
            const at = document.activeElement;
            if (!at || at === document.body) return null;
            const style = getComputedStyle(at);
            const box = at.getBoundingClientRect();
            if (style.outlineStyle === 'none' && style.boxShadow === 'none') return `no ring: ${at.outerHTML.slice(0, 120)}`;
            if (box.height > 0 && (box.height < 24 || box.width < 24) && !at.closest('td, li, p, h2, dd, .card-head, .skip')) return `small: ${box.width} x ${box.height} ${at.outerHTML.slice(0, 120)}`;
            return null;
          });
          assert.equal(problem, null, path);
        }
      }
    }),
  'takes a letter that is typed while a sheet closes': (browser) =>
    opened(browser, async ({ page, daemon, run }) => {
      await page.goto(`${daemon.address}r/${run}/steps/3`);
      await settle(page);
      for (let i = 0; i < 20; i += 1) {
        await page.keyboard.press('?');
        await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
        await Promise.all([page.keyboard.press('Escape'), page.keyboard.press('e')]);
        await page.getByRole('dialog', { name: 'Verify step 3' }).waitFor({ timeout: 5000 });
        await page.waitForTimeout(20); // what closed the first sheet does not close the second
        assert.equal(await page.getByRole('dialog', { name: 'Verify step 3' }).count(), 1);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    }),
  'moves the step, and letters can be turned off': (browser) =>
    opened(browser, async ({ page, daemon, run }) => {
      await page.goto(`${daemon.address}r/${run}?b=5`);
      await settle(page);
      await page.keyboard.press(']');
      assert.equal(await page.getByLabel('Step B').inputValue(), '6');
      await page.keyboard.press('[');
      await page.keyboard.press('[');
      assert.equal(await page.getByLabel('Step B').inputValue(), '4');
      await page.keyboard.press('?');
      await page.getByLabel('Single keys act').uncheck();
      await page.keyboard.press('Escape');
      await page.keyboard.press(']');
      assert.equal(await page.getByLabel('Step B').inputValue(), '4');
    }),
};
