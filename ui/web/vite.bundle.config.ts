import preact from '@preact/preset-vite';
import { defineConfig, type Plugin } from 'vite';

/** Puts scripts and styles into the page: a page that was opened from disk may load nothing. */
function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_, files) {
      const page = files['index.html'];
      if (page?.type !== 'asset') throw new Error('there is no index.html');
      let html = String(page.source).replace(/\s*<(script type="module"|link rel="stylesheet")[^>]*>(<\/script>)?/g, '');
      for (const [name, file] of Object.entries(files)) {
        if (file === page) continue;
        const code = file.type === 'chunk' ? file.code : String(file.source);
        const tag = file.type === 'chunk' ? 'script' : 'style';
        const at = file.type === 'chunk' ? '</body>' : '</head>';
        const inert = code.replaceAll(`</${tag}`, `<\\/${tag}`);
        html = html.replace(at, () => `<${tag}>${inert}</${tag}>\n${at}`);
        delete files[name];
      }
      page.source = html;
    },
  };
}

export default defineConfig({
  root: 'src/bundle',
  base: './',
  publicDir: false,
  plugins: [preact(), oneFile()],
  build: {
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: false,
    rollupOptions: { output: { format: 'iife', inlineDynamicImports: true } },
  },
});
