import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { bootScript } from './build/boot-script';

const server = 'http://127.0.0.1:7373';

export default defineConfig({
  plugins: [svelte(), bootScript('src/boot.js')],
  build: {
    // The content security policy has no place for data: fonts or scripts, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/healthz', '/readyz', '/metrics'].map((path) => [path, { target: server }]),
    ),
  },
});
