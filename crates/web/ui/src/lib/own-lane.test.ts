import { expect, it } from 'vitest';
import { ownTimeline } from './own-lane';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 17, 3, minute)).toISOString();
const change = (minute: number, previous: 'healthy' | 'down' | 'unknown', current: 'healthy' | 'down') => ({ at: at(minute), previous, current });
const minutes = (iso: string) => new Date(iso).getUTCMinutes();
const span = { from: Date.parse(at(10)), to: Date.parse(at(59)) };
const service = { status: 'healthy', status_since: at(1), created_at: at(0) } as const;
const told = (changes: Parameters<typeof ownTimeline>[0], own: Parameters<typeof ownTimeline>[1] = service) => {
  const { from, initial, transitions } = ownTimeline(changes, own, span);
  return [`${String(minutes(from))} ${initial}`, ...transitions.map((one) => `${String(minutes(one.at))} ${one.status}`)];
};

it('tells how a service was by its changes, newest first', () => {
  const changes = [change(40, 'down', 'healthy'), change(20, 'healthy', 'down'), change(1, 'unknown', 'healthy')];
  expect(told(changes)).toEqual(['10 healthy', '20 down', '40 healthy']);
});

it('puts what was recorded late where it belongs', () => {
  const changes = [change(20, 'healthy', 'down'), change(40, 'down', 'healthy'), change(5, 'unknown', 'healthy')];
  expect(told(changes)).toEqual(['10 healthy', '20 down', '40 healthy']);
});

it('begins where the service did', () => {
  const young = { ...service, status_since: at(15), created_at: at(14) };
  expect(told([change(15, 'unknown', 'healthy')], young)).toEqual(['14 unknown', '15 healthy']);
});

it('tells nothing of what was before the oldest change that is known', () => {
  expect(told([change(20, 'healthy', 'down')])).toEqual(['20 down']);
  expect(told([change(5, 'healthy', 'down')])).toEqual(['10 down']);
});

it('has been as it is where nothing changed', () => {
  expect(told([])).toEqual(['10 healthy']);
  expect(told([], { ...service, status_since: at(30) })).toEqual(['30 healthy']);
});
