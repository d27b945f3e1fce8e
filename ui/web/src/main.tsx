import { render } from 'preact';
import { session, signIn, takeCode } from './api/client';
import { App } from './app';
import { startRouter } from './router';
import { startKeys } from './keys';
import { startCursor } from './state/cursor';
import { loadCapabilities, startStore } from './state/store';
import { startTheme } from './state/theme';
import './styles/tokens.css';
import './styles/base.css';
import './styles/chrome.css';
import './styles/parts.css';

async function enter(): Promise<void> {
  const code = takeCode();
  // A code that was used before is no reason to stop: the cookie may still be good.
  if (code !== null) await signIn(code).catch(() => (session.value = 'unknown'));
  await loadCapabilities();
}

startRouter();
startCursor();
startTheme();
startStore();
startKeys();
void enter();
const root = document.getElementById('app');
if (root) render(<App />, root);
