// Measures the page on a long run, in headless Chromium with software rendering, against the real daemon. Judges nothing.
// usage: node perf.mjs FOLDER-OF-A-RUN   (deltascope-make-run of the release build makes one: --layout trl-v2
//        --tensors 1137 --elements 2048 --steps 10000 --density 0.01 --out FOLDER)
import { launch, profile, settle, signIn } from './browser.mjs';
import { Daemon } from './daemon.mjs';

const Frames = 150;
const Rounds = 7;

const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(values.length * share)].toFixed(1);
const report = (what, times) => console.log(`${what}: median ${quantile(times, 0.5)} ms, p95 ${quantile(times, 0.95)} ms`);

/** Until a picture is on the canvas: from the click to the frame behind the one that has many colors. */
function timeToPicture(page, link) {
  return page.evaluate(async (selector) => {
    const colors = (canvas) => {
      const { width, height } = canvas;
      if (width < 300 || height < 200) return 0;
      const row = canvas.getContext('2d').getImageData(0, Math.floor(height / 2), width, 1).data;
      return new Set(new Uint32Array(row.buffer)).size;
    };
    const begin = performance.now();
    document.querySelector(selector).click();
    for (;;) {
      await new Promise(requestAnimationFrame);
      if (location.pathname.includes('/heat') && [...document.querySelectorAll('main canvas')].some((c) => colors(c) > 8)) {
        return performance.now() - begin;
      }
      if (performance.now() - begin > 20_000) throw new Error('no picture');
    }
  }, link);
}

const daemon = new Daemon();
daemon.sources.push(process.argv[2]);
daemon.patience = 300;
const begin = Date.now();
await daemon.start();
const browser = await launch();
try {
  const context = await profile(browser, { viewport: { width: 1600, height: 800 } });
  const page = await context.newPage();
  await signIn(page, daemon);
  const api = (path) => page.evaluate(async (at) => (await fetch(at)).json(), `${daemon.address}api/v1/${path}`);
  const run = (await api('runs')).runs[0].id;
  let last = -1;
  for (let same = 0; same < 5; ) { // replayed once nothing changes any more
    await page.waitForTimeout(1000);
    const { rev } = await api(`runs/${run}/steps?limit=1`);
    same = rev === last ? same + 1 : 0;
    last = rev;
  }
  console.log(`quiet ${((Date.now() - begin) / 1000).toFixed(0)} s after the start`);

  const opened = [];
  for (let round = 0; round < Rounds; round += 1) {
    await page.goto(`${daemon.address}r/${run}`);
    await settle(page);
    opened.push(await timeToPicture(page, `a[href*="/heat"]`));
  }
  report('heatmap, from the click to the picture', opened);

  await page.goto(`${daemon.address}r/${run}/lineage`);
  await settle(page);
  const filter = page.locator('input[type=search]').first();
  await filter.fill('step:>=0'); // every chain open: one row per version
  await page.waitForTimeout(1500);
  const scrolled = await page.evaluate(async (count) => {
    const box = document.querySelector('.lineage-box');
    const times = [];
    let before = await new Promise(requestAnimationFrame);
    for (let i = 0; i < count; i += 1) {
      box.scrollTop += 300;
      const now = await new Promise(requestAnimationFrame);
      times.push(now - before);
      before = now;
    }
    return times;
  }, Frames);
  report('lineage, a frame while it scrolls', scrolled);

  await page.goto(`${daemon.address}r/${run}/heat`);
  await settle(page);
  await page.waitForTimeout(1500);
  const box = await page.locator('main canvas').first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (let i = 0; i < 8; i += 1) await page.mouse.wheel(0, -240);
  await page.waitForTimeout(1000);
  const frames = page.evaluate(async (count) => {
    const times = [];
    let before = await new Promise(requestAnimationFrame);
    for (let i = 0; i < count; i += 1) {
      const now = await new Promise(requestAnimationFrame);
      times.push(now - before);
      before = now;
    }
    return times;
  }, Frames);
  await page.mouse.down({ button: 'middle' });
  let panning = true;
  frames.then(() => (panning = false));
  for (let i = 0; panning; i += 1) await page.mouse.move(box.x + box.width / 2 + 300 * Math.sin(i / 20), box.y + box.height / 2);
  await page.mouse.up({ button: 'middle' });
  report('heatmap, a frame while it is dragged', await frames);
} finally {
  await browser.close();
  await daemon.stop();
}
