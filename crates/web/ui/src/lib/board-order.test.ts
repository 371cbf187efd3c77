import { describe, expect, it } from 'vitest';
import type { BoardItem } from './api/board';
import { linesOf } from './board';
import { boardOrderOf, directionOf, ordered, orderWord, pressed } from './board-order';
import { item } from './board-sample';

const counts = (down: number) => ({ healthy: 1, degraded: 0, down, unknown: 0, skipped: 0 });
const items: BoardItem[] = [
  item('Asleep', { is_active: false, status: 'unknown', team: 'Zoo', poll_interval_ms: 60_000 }),
  item('Billing', { status: 'down', cause: 'affected', p95_ms: 20, dependency_counts: counts(2) }),
  item('Ledger', { status: 'down', cause: 'root', p95_ms: 300, breaker: 'open', team: 'Bar' }),
  item('Orders', { has_warnings: true, status_since: '2026-01-02T00:00:00.000Z' }),
];
const lines = linesOf(items, []);
const names = (word: string) => ordered(lines, boardOrderOf(word)).map(({ name }) => name[0]).join('');

describe('the order of the board', () => {
  it.each([
    ['', 'LBOA'],
    ['-status', 'AOBL'],
    ['name', 'ABLO'],
    ['-name', 'OLBA'],
    ['team', 'LABO'],
    ['-team', 'ALBO'],
    ['p95', 'LBAO'],
    ['-p95', 'BLAO'],
    ['interval', 'BLOA'],
    ['breaker', 'LABO'],
    ['warnings', 'OABL'],
    ['leans', 'BALO'],
    ['changed', 'OABL'],
    ['nonsense', 'LBOA'],
  ])('%s', (word, expected) => {
    expect(names(word)).toBe(expected);
  });

  it.each([
    ['name', 'name', 'ascending'],
    ['-name', 'name', 'descending'],
    ['p95', 'p95', 'descending'],
    ['-p95', 'p95', 'ascending'],
    ['p95', 'name', null],
  ] as const)('%s has %s %s', (word, key, direction) => {
    expect(directionOf(boardOrderOf(word), key)).toBe(direction);
  });

  it('turns at the second press, and the usual one leaves the address alone', () => {
    const first = pressed(boardOrderOf(''), 'p95');
    expect(orderWord(first)).toBe('p95');
    expect(orderWord(pressed(first, 'p95'))).toBe('-p95');
    expect(orderWord(pressed(first, 'status'))).toBe('');
  });
});
