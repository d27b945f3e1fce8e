import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { accessible, noOverflow, profile, settle } from '../browser.mjs';
import { golden, program, renameTensors } from '../daemon.mjs';

/** Exports a run and opens the page of the bundle from disk. All that the page asks of a network is in `asked`. */
async function withBundle(browser, source, use) {
  const home = mkdtempSync(join(tmpdir(), 'deltascope-bundle-'));
  const context = await profile(browser);
  try {
    const file = join(home, 'run.dscope');
    const env = { ...process.env, DELTASCOPE_HOME: join(home, 'home') };
    execFileSync(program, ['export', source, '--bundle', file, '--quiet'], { env });
    execFileSync('python3', ['-m', 'zipfile', '-e', file, home]);
    const index = pathToFileURL(join(home, 'web/index.html')).href;
    const asked = [];
    context.on('request', (request) => asked.push(request.url()));
    const page = await context.newPage();
    const open = async (place = '') => {
      await page.goto('about:blank');
      await page.goto(index + (place === '' ? '' : `#${place}`));
      await settle(page);
    };
    await use({ page, open });
    assert.deepEqual(asked.filter((url) => url !== index && !/^(about|data|blob):/.test(url)), [], 'nothing else is loaded');
    assert.deepEqual(context.complaints, []);
  } finally {
    await context.close();
    rmSync(home, { recursive: true, force: true });
  }
}

const places = ['', 'r/bucket/heat', 'r/bucket/timeline', 'r/bucket/lineage', 'r/bucket/bucket', 'r/bucket/steps/3', 'r/bucket/diff?a=2&b=4', 'r/bucket/journal', 'alerts', 'tasks', 'about', '?'];

export const cases = {
  async 'every page opens from disk and loads nothing'(browser) {
    for (const name of ['trl-v2-gap', 'trl-v2-restart', 'trl-v1.0-badhash', 'slime-v2-xor']) {
      await withBundle(browser, golden(name), async ({ page, open }) => {
        for (const place of places) {
          await open(place);
          // Without its base no step of the last one can be rebuilt, and an export does not wait until that is an alert.
          const end = name === 'slime-v2-xor' ? /read-only\. ⚑ Not in it: alerts of chain-gap [^.]*\.$/ : /read-only\.$/;
          const badge = await page.locator('.bundle-badge').innerText();
          assert.ok(badge.startsWith('Bundle, made at ') && end.test(badge), badge);
          await noOverflow(page, `${name} ${place}`);
          if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name}-${place.replace(/\W+/g, '_')}.png`) });
        }
      });
    }
  },

  async 'links, going back and reloading keep the place'(browser) {
    await withBundle(browser, golden('trl-v2-gap'), async ({ page, open }) => {
      await open();
      assert.match(page.url(), /#r\/bucket$/);
      await page.getByRole('link', { name: 'Lineage' }).first().click();
      await settle(page);
      assert.match(page.url(), /#r\/bucket\/lineage/);
      await page.reload();
      await settle(page);
      assert.match(page.url(), /#r\/bucket\/lineage/);
      await page.goBack();
      await settle(page);
      assert.match(page.url(), /#r\/bucket$/);
    });
  },

  async 'nothing can be done and nobody signed in'(browser) {
    await withBundle(browser, golden('trl-v2-gap'), async ({ page, open }) => {
      await open('r/bucket/steps/3');
      assert.equal(await page.getByRole('button', { name: /^(Verify|Materialize)/ }).count(), 0);
      assert.equal(await page.getByText('Sign out').count(), 0);
      assert.ok(!/connecting|contact/.test(await page.locator('.statusbar').innerText()));
      await accessible(page, 'a step of a bundle');
    });
  },

  async 'damage is shown as the daemon shows it'(browser) {
    await withBundle(browser, golden('trl-v1.0-badhash'), async ({ page, open }) => {
      await open();
      assert.match(await page.locator('main').innerText(), /DS-DIGEST/);
    });
  },

  async 'names are text, whatever they hold'(browser) {
    const home = mkdtempSync(join(tmpdir(), 'deltascope-names-'));
    const source = join(home, 'bucket');
    cpSync(golden('trl-v2-gap'), source, { recursive: true });
    const hostile = '</script><script>document.title = "taken"</script><!--';
    renameTensors(source, (name) => name.replace('model.norm', `model.${hostile}`));
    try {
      await withBundle(browser, source, async ({ page, open }) => {
        await open('r/bucket/steps/3');
        assert.ok((await page.locator('main').innerText()).includes(hostile));
        assert.notEqual(await page.title(), 'taken');
      });
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },

  async 'the journal shows what people said and did'(browser) {
    const home = mkdtempSync(join(tmpdir(), 'deltascope-said-'));
    const source = join(home, 'bucket');
    cpSync(golden('trl-v2-gap'), source, { recursive: true });
    const env = { ...process.env, DELTASCOPE_HOME: join(home, 'home') };
    execFileSync(program, ['ref', `${source}@12`, 'good', '--quiet'], { env });
    execFileSync(program, ['note', `${source}@12`, 'best eval so far', '--quiet'], { env });
    try {
      await withBundle(browser, source, async ({ page, open }) => {
        await open('r/bucket/journal');
        await page.getByRole('table', { name: 'Names and pins' }).getByText('good').waitFor();
        await page.getByRole('table', { name: 'Notes' }).getByText('best eval so far').waitFor();
        assert.equal(await page.getByRole('table', { name: 'Journal' }).getByRole('row').count(), 3);
        assert.equal(await page.getByRole('button', { name: /Remove/ }).count(), 0);
      });
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },

  async 'what a bundle does not hold is said and never zero'(browser) {
    await withBundle(browser, golden('trl-v2-gap'), async ({ page, open }) => {
      await open('r/bucket/diff?a=2&b=4');
      assert.match(await page.locator('main').innerText(), /Not in this bundle/);
    });
  },
};
