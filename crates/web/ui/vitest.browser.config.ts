import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['browser/**/*.test.ts'],
    environment: 'node',
    globalSetup: 'browser/shared.ts',
    // One page at a time: two cores have no room for more. One worker loads the tools only once.
    fileParallelism: false,
    isolate: false,
    // As long as for a locator: a busy machine is no failure.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
