import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['browser/**/*.test.ts'],
    environment: 'node',
    globalSetup: 'browser/shared.ts',
    // Two at a time: much of what a test does is to wait. A worker loads the tools only once.
    maxWorkers: 2,
    isolate: false,
    // As long as for a locator: a busy machine is no failure.
    expect: { poll: { timeout: 15_000 } },
    // Each wait has a limit of its own, which names what did not come; these end what hangs.
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
