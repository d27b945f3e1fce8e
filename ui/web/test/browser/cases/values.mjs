import assert from 'node:assert/strict';
import { accessible, noOverflow, profile, settle, signIn } from '../browser.mjs';
import { Daemon } from '../daemon.mjs';

/** The values of a tensor, computed when asked for. */
export const cases = {
  async 'the values of a tensor are computed on request'(browser) {
    const daemon = new Daemon();
    daemon.add('trl-v2-raw', 'wordle');
    await daemon.start();
    const context = await profile(browser);
    try {
      const page = await context.newPage();
      await signIn(page, daemon);
      const { runs } = await daemon.get('runs');
      await page.goto(`${daemon.address}r/${runs[0].id}/heat?tensor=1`);
      await settle(page);
      const card = page.getByRole('region', { name: 'Values' });
      const button = card.getByRole('button', { name: /^Compute \(reads .*B\)$/ });
      await button.waitFor();
      assert.equal(await card.getByRole('table').count(), 0, 'nothing is read before');
      await button.click();
      await card.getByRole('row', { name: /^median/ }).waitFor();
      assert.equal(await card.getByRole('img').count(), 2, 'histograms');
      assert.ok(await card.getByText('How far elements moved').isVisible());
      await accessible(page, 'the values of a tensor');
      await noOverflow(page, 'the values of a tensor');
      if (process.env.PICTURE) await page.screenshot({ path: process.env.PICTURE, fullPage: true });
      await page.getByRole('button', { name: 'Previous step' }).click();
      await button.waitFor();
      assert.deepEqual(context.complaints, []);
    } finally {
      await context.close();
      await daemon.remove();
    }
  },
};
