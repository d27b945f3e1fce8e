import { transport } from '../api/client';
import { browserHost } from '../api/stream_host';
import { addresses } from '../router';
import { answerFrom } from './answers';
import { readBundle } from './bundle';
import './bundle.css';

// Turns the page of the daemon into the page of a bundle, before anything else of it runs.

const bundle = readBundle();

transport.ask = (address, init) => Promise.resolve(answerFrom(bundle, address, init.method));
browserHost.elect = () => undefined; // no tab opens a stream
browserHost.channel = () => null;

// Ages are those of the time at which the bundle was made.
Date.now = () => bundle.created_us / 1000;

// A file has one address; the place stands behind its #.
addresses.hrefOf = (path, query) => `${location.href.replace(/#.*/s, '')}#${path}${query}`;
addresses.placeOf = (href) => {
  const [path = '', query] = new URL(href).hash.slice(1).split('?');
  return { path, query: query === undefined ? '' : `?${query}` };
};
if (location.hash === '') history.replaceState(null, '', addresses.hrefOf(`r/${encodeURIComponent(bundle.run)}`, ''));

const madeAt = `${new Date(bundle.created_us / 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const badge = document.createElement('aside');
badge.className = 'bundle-badge';
badge.textContent = [
  `Bundle, made at ${madeAt} by Deltascope ${bundle.tool_version}; read-only.`,
  ...bundle.left_out.map((what) => `⚑ Not in it: ${what}.`),
].join(' ');
document.body.prepend(badge);
