import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['bench/**/*.bench.ts'],
    environment: 'node',
    globalSetup: 'browser/shared.ts',
    fileParallelism: false,
    isolate: false,
    // The heap is looked at after ten minutes of events.
    testTimeout: 1_200_000,
    hookTimeout: 300_000,
  },
});
