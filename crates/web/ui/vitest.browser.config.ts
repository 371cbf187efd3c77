import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['browser/**/*.test.ts'],
    environment: 'node',
    globalSetup: 'browser/shared.ts',
    // One page at a time: two cores have no room for more. One worker loads the tools only once.
    fileParallelism: false,
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
