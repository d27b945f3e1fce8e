import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
}

let shown = [];

/** What the pages of the profile that was closed last showed: each address, and the text of its sheet or of all of it. */
export const lastShown = () => shown.join('\n');

async function textOf(page) {
  const text = await page.evaluate(() => (document.querySelector('dialog[open]') ?? document.body).innerText).catch((error) => String(error));
  return `${page.url()}\n${text.replace(/^/gm, '    ')}`;
}

/** A browser profile; all that its pages complain about is in `complaints`. */
export async function profile(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.complaints = [];
  const close = context.close.bind(context);
  context.close = async () => {
    shown = await Promise.all(context.pages().map(textOf));
    await close();
  };
  context.on('page', (page) => {
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) context.complaints.push(`${page.url()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => context.complaints.push(`${page.url()}: ${error.stack}`));
  });
  return context;
}

/** Signs in as a user does: with the printed code in the fragment, or by typing a token. */
export async function signIn(page, daemon, token) {
  if (token === undefined) {
    await page.goto(`${daemon.address}#k=${daemon.code}`);
  } else {
    if (!page.url().startsWith(daemon.address)) await page.goto(daemon.address);
    await page.getByLabel('Code or token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }
  await page.locator('.topbar').waitFor();
}

/** Waits until the page shows what it loads. */
export async function settle(page) {
  await page.locator('main').waitFor();
  for (let i = 0; (await page.locator('.skeleton').count()) > 0; i += 1) {
    if (i === 150) throw new Error(`${page.url()} goes on loading`);
    await page.waitForTimeout(100);
  }
  await page.waitForTimeout(150);
}

export async function accessible(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const text = violations.map(({ id, help, nodes }) => `${id}: ${help}\n    ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`).join('\n    ')}`);
  assert.deepEqual(text, [], `axe on ${where}`);
}

/** Charts follow a new size of the window a moment later. */
export async function noOverflow(page, where) {
  await page.waitForFunction(() => document.documentElement.scrollWidth <= window.innerWidth, null, { timeout: 5000 }).catch(() => {});
  const width = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(width[0] <= width[1], `${where} is ${width[0]} px wide in a window of ${width[1]} px`);
}
