import { describe, expect, it } from 'vitest';
import type { WallFailing, WallGroup } from './api/board';
import type { NowCause } from './api/now';
import type { Line } from './board';
import { line } from './board-sample';
import { plain } from './isolate';
import { saidBy, tilesOf } from './wall';

const none = { healthy: 0, degraded: 0, down: 0, unknown: 0, skipped: 0 };
const since = '2026-01-01T00:00:00.000Z';

const group = (canonical_name: string, status: 'down' | 'degraded' | 'healthy'): WallGroup => ({
  canonical_name,
  status,
  since,
  failing_since: status === 'healthy' ? null : since,
  counts: { ...none, [status]: 2 },
  error_message: null,
  reported_by: [],
});

const service = (service_name: string, status: 'down' | 'degraded'): WallFailing => ({
  service_id: service_name,
  service_name,
  status,
  since,
  failing_since: since,
  error_message: 'refused',
});

/** A root cause by the names of its nodes, and the ids of whom it hurts. */
const cause = (names: readonly string[], hurt: readonly string[], hurts = hurt.length): NowCause => ({
  nodes: names.map((name) => ({ id: `external:${name}`, kind: 'external', name, status: 'down' })),
  node_count: names.length,
  status: 'down',
  since,
  status_since: since,
  hurts,
  affected: hurts,
  contradicted: false,
  error_message: 'no room left',
  impact: null,
  contact: null,
  description: null,
  team: null,
  disputes: [],
  reported_by: [],
  reporter_count: 1,
  hurt: hurt.map((id) => ({ id, name: id, status: 'degraded', affected: true, distance: 1, via: '' })),
  service_ids: [],
});

interface Told {
  readonly items?: WallGroup[];
  readonly failing?: WallFailing[];
  readonly lines?: Line[];
  readonly causes?: NowCause[];
}

const tiles = (told: Told) => tilesOf({ items: [], failing: [], lines: [], causes: [], ...told });

describe('what stands on the wall', () => {
  it('is also a service that fails though nobody leans on it, among those that are as bad', () => {
    const items = [group('db', 'down'), group('cache', 'degraded'), group('mail', 'healthy')];
    const all = tiles({ items, failing: [service('Alone', 'down'), service('Slow', 'degraded')] });
    expect(all.map(({ name }) => name)).toEqual(['db', 'Alone', 'cache', 'Slow', 'mail']);
    expect(all[1]).toMatchObject({ status: 'down', error: 'refused', who: 'by its own poll' });
  });

  it('has one tile for a name, which tells the worse', () => {
    const all = tiles({ items: [group('Orders ', 'healthy')], failing: [service('orders', 'down')] });
    expect(all.map(({ name, status, who }) => [name, status, who])).toEqual([
      ['orders', 'down', 'by its own poll, 2 lean on it directly'],
    ]);
  });

  it.each([
    ['healthy', 'degraded', 'degraded', 'by its own poll, 2 lean on it directly'],
    ['degraded', 'down', 'down', 'by its own poll, 2 lean on it directly'],
    ['down', 'degraded', 'down', 'both services say so'],
    ['degraded', 'healthy', 'degraded', 'both services say so'],
    ['healthy', 'unknown', 'healthy', '2 services lean on it directly'],
  ] as const)('takes %s from others and %s from its own line for %s', (others, own, status, who) => {
    const all = tiles({ items: [group(' ORDERS', others)], lines: [line('Orders', { status: own })] });
    expect(all.map((tile) => [tile.status, tile.who])).toEqual([[status, who]]);
  });

  it('is every service of the board, unless it is switched off', () => {
    const all = tiles({
      lines: [
        line('Slow', { status: 'degraded' }),
        line('Gone', { status: 'down' }),
        line('Off', { status: 'down', is_active: false }),
        line('Well'),
      ],
    });
    expect(all.map(({ name, status }) => [name, status])).toEqual([
      ['Gone', 'down'],
      ['Slow', 'degraded'],
      ['Well', 'healthy'],
    ]);
    expect(all[2]?.who).toBe('nobody leans on it');
  });
});

describe('a root cause on the wall', () => {
  const items = [group('Orders', 'down'), group('cache', 'degraded'), group('vault', 'degraded'), group('mail', 'healthy')];
  const why = (told: Told) => tiles(told).map((tile) => [tile.name, tile.root, tile.why]);

  it('stands before worse things that fail because of it, the one that hurts most first', () => {
    const lines = [line('Orders', { status: 'down', cause: 'affected' })];
    expect(why({ items, lines, causes: [cause(['Vault'], ['orders'], 7), cause(['cache'], [])] })).toEqual([
      ['Vault', true, 'root cause, hurts 7 services'],
      ['cache', true, 'root cause, hurts nobody else'],
      ['Orders', false, 'because of Vault'],
      ['mail', false, null],
    ]);
  });

  it('has a tile though the wall has no room for its name', () => {
    expect(tiles({ causes: [cause(['vault'], ['orders'])] })).toMatchObject([
      { name: 'vault', status: 'down', since, who: '1 service says so', error: 'no room left', root: true, why: 'root cause, hurts 1 service' },
    ]);
  });

  it('is told by the board where it is one of too many to be listed', () => {
    expect(why({ lines: [line('Slow', { status: 'degraded', cause: 'affected' }), line('Ledger', { status: 'degraded', cause: 'root' })] })).toEqual([
      ['Ledger', true, 'root cause'],
      ['Slow', false, 'because of another'],
    ]);
  });

  it('may be a circle, which has one tile, as it is one root cause elsewhere', () => {
    const circle = cause(['Orders', 'vault', 'Ledger'], ['shop']);
    const lines = ['Orders', 'Ledger'].map((name) => line(name, { status: 'down', cause: 'root' }));
    const [first, ...others] = tiles({ items, lines, failing: [service('Ledger', 'down')], causes: [circle] });
    expect(plain(first?.name ?? '')).toBe('Orders, vault and Ledger');
    expect(first).toMatchObject({ root: true, status: 'down', why: 'root cause, a circle of 3, hurts 1 service', error: 'no room left' });
    expect(others.map(({ name, root }) => [name, root])).toEqual([['cache', false], ['mail', false]]);
  });

  it('may be a circle of more than are listed, the others of which are none of their own', () => {
    const circle = { ...cause(['a', 'b'], []), node_count: 40 };
    expect(why({ lines: [line('z', { status: 'down', cause: 'root' })], causes: [circle] }).slice(1)).toEqual([
      ['z', false, 'part of a root cause'],
    ]);
  });

  it.each([
    ['the only one, however far it is', [cause(['vault'], ['near'], 40)], 'because of vault'],
    ['one of two that do not name it', [cause(['vault'], ['near'], 40), cause(['cache'], ['near'], 40)], 'because of another'],
    ['two', [cause(['vault'], ['shop']), cause(['cache'], ['shop'])], 'because of vault, cache'],
    ['more than can be read', [cause(['a'], ['shop']), cause(['b'], ['shop']), cause(['c'], ['shop'])], 'because of a, b and 1 more'],
  ])('is named by what fails because of it: %s', (_, causes, text) => {
    const all = tiles({ causes, lines: [line('Shop', { status: 'degraded', cause: 'affected' })] });
    expect(all.find(({ name }) => name === 'Shop')?.why).toBe(text);
  });
});

describe('who says so', () => {
  it.each([
    ['healthy', { healthy: 3 }, '3 services lean on it directly'],
    ['healthy', { healthy: 1 }, '1 service leans on it directly'],
    ['down', { down: 1 }, '1 service says so'],
    ['down', { down: 2, degraded: 1 }, 'all 3 services say so'],
    ['down', { down: 2, healthy: 3 }, '2 of 5 services say so'],
    ['unknown', { unknown: 1, skipped: 1 }, '1 of 2 services say so'],
  ] as const)('is told of what is %s', (status, some, text) => {
    expect(saidBy({ status, counts: { ...none, ...some } })).toBe(text);
  });
});
