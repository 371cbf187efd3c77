import { describe, expect, it } from 'vitest';
import { changes, shown, statusOf, type System } from './status';

const report = (...checks: [string, 'healthy' | 'down'][]): System => ({
  version: '0.1.0',
  commit: null,
  is_demo: false,
  started_at: '2026-11-15T21:00:00.000Z',
  now: '2026-11-15T21:00:00.000Z',
  database: { kind: 'sqlite', schema_version: 1 },
  checks: checks.map(([name, status]) => ({ name, status, detail: '', latency_ms: 1 })),
});

describe('status', () => {
  it('takes a word from a newer server as unknown', () => {
    expect(statusOf('down')).toBe('down');
    expect(statusOf('melted')).toBe('unknown');
  });
});

describe('changes', () => {
  it('is silent at the first report and when nothing moved', () => {
    expect(changes(null, report(['database', 'down']))).toBeNull();
    expect(changes(report(['database', 'down']), report(['database', 'down']))).toBeNull();
  });

  it('names each check that moved', () => {
    const before = report(['database', 'healthy'], ['runtime', 'down'], ['disk', 'healthy']);
    const after = report(['database', 'down'], ['runtime', 'healthy'], ['disk', 'healthy']);
    expect(changes(before, after)).toBe('database is down, runtime is healthy');
  });

  it('does not take a new check for a change', () => {
    expect(changes(report(), report(['database', 'down']))).toBeNull();
  });
});

describe('shown', () => {
  it('says the status while it is fresh', () => {
    expect(shown('down', false)).toEqual({ status: 'down', word: 'down' });
  });

  it('never shows old data as anything but unknown', () => {
    expect(shown('healthy', true)).toEqual({ status: 'unknown', word: 'was healthy' });
  });
});
