import assert from 'node:assert/strict';
import { accessible, noOverflow, profile, settle, signIn } from '../browser.mjs';
import { Daemon, renameTensors } from '../daemon.mjs';

const evil = `<img src=x onerror="window.hit=1">\u202egnp.exe${'x'.repeat(300)}`;

export const cases = {
  'from files cannot act, deceive or break the layout': async (browser) => {
    const daemon = new Daemon();
    const folder = '<script>window.hit=1<\u2215script>\u202egnp';
    const bucket = daemon.add('trl-v1.2', folder, (path) => !path.includes('deltas/'));
    renameTensors(bucket, (name) => (name === 'model.norm.weight' || name.endsWith('down_proj.weight') ? evil : name));
    await daemon.start();
    const context = await profile(browser, { viewport: { width: 1280, height: 800 } });
    try {
      const page = await context.newPage();
      await signIn(page, daemon);
      const [run] = (await daemon.get('runs')).runs;
      const id = encodeURIComponent(run.id);
      const { steps } = await daemon.get(`runs/${id}/steps`);
      for (const path of ['', `r/${id}`, `r/${id}/steps/${steps[0].step}`, `r/${id}/heat`, `r/${id}/lineage`, `r/${id}/bucket`]) {
        await page.goto(daemon.address + path);
        await settle(page);
        assert.equal(await page.evaluate(() => window.hit), undefined, `${path}: a name was run`);
        assert.ok(!(await page.locator('body').innerText()).includes('\u202e'), `${path}: a name turns text around`);
        await noOverflow(page, path);
        await accessible(page, path);
      }
      assert.deepEqual(context.complaints, []);
    } finally {
      await context.close();
      await daemon.remove();
    }
  },
};
