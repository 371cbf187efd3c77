import { readFileSync } from 'node:fs';
import type { HtmlTagDescriptor, Plugin } from 'vite';

/**
 * Puts a classic, blocking script at the head of the page: it sets the theme before the first
 * paint. Vite only bundles modules, which are deferred, and the content security policy refuses
 * inline scripts; so the file is emitted under a hashed name of its own.
 */
export function bootScript(path: string): Plugin {
  const source = () => readFileSync(path, 'utf8');
  return {
    name: 'mainstay-boot-script',
    buildStart() {
      if (!this.meta.watchMode && this.environment.mode === 'build') {
        this.emitFile({ type: 'asset', name: 'boot.js', source: source() });
      }
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, context): HtmlTagDescriptor[] {
        if (context.bundle === undefined) {
          return [{ tag: 'script', children: source(), injectTo: 'head-prepend' }];
        }
        const emitted = Object.values(context.bundle).find(
          (file) => file.type === 'asset' && file.names.includes('boot.js'),
        );
        if (emitted === undefined) throw new Error(`${path} was not emitted`);
        return [{ tag: 'script', attrs: { src: `/${emitted.fileName}` }, injectTo: 'head-prepend' }];
      },
    },
  };
}
