import { expect, it } from 'vitest';
import { lazyParts } from './parts';

it('names every part that comes later, with what only it brings', () => {
  const manifest = {
    'index.html': { file: 'assets/index.js', isEntry: true, imports: ['_shared.js'], css: ['assets/index.css'] },
    '_shared.js': { file: 'assets/shared.js' },
    '_strip.js': { file: 'assets/strip.js', imports: ['_shared.js'], css: ['assets/strip.css'] },
    'src/pages/Services.svelte': { file: 'assets/Services.js', isDynamicEntry: true, imports: ['index.html', '_strip.js'] },
    'src/pages/services/LatencyChart.svelte': { file: 'assets/Chart.js', isDynamicEntry: true, imports: ['_shared.js'] },
  };
  expect(lazyParts(manifest)).toEqual([
    { name: 'services', files: ['/assets/Services.js', '/assets/strip.js', '/assets/strip.css'] },
    { name: 'services_latency_chart', files: ['/assets/Chart.js'] },
  ]);
});
