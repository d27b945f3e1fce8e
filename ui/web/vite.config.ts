import preact from '@preact/preset-vite';
import { defineConfig } from 'vite';

// The base is relative: the daemon serves the page below any path and says which by <base href>.
export default defineConfig({
  base: './',
  plugins: [preact()],
  build: {
    target: 'es2022',
    manifest: 'manifest.json',
    assetsInlineLimit: 0, // the content security policy refuses data: addresses
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': process.env.DELTASCOPE_URL ?? 'http://127.0.0.1:7717' } }, // a running daemon
});
