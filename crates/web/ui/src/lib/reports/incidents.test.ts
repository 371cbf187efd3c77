import { expect, it } from 'vitest';
import { aboutText, INCIDENTS_LIMIT, incidentsOf } from './incidents';

const NOW = Date.parse('2026-11-15T22:00:00Z');
const WEEK = 7 * 86_400_000;
const change = (time: string, service: string, current: string, dependency: string | null = null) => ({
  at: `2026-11-15T${time}:00.000Z`,
  service_name: service,
  dependency_name: dependency,
  canonical_name: dependency === 'db' ? 'PostgreSQL main' : dependency,
  current,
});

it('puts changes that are close together into one incident, with a margin', () => {
  const found = incidentsOf(
    [
      change('20:30', 'shop', 'healthy'),
      change('20:12', 'shop', 'down'),
      change('20:10', 'shop', 'down', 'db'),
      change('18:00', 'mail', 'degraded'),
      change('18:15', 'mail', 'healthy'),
    ],
    NOW,
    WEEK,
  );
  expect(found).toEqual([
    { from: '2026-11-15T20:05:00.000Z', to: '2026-11-15T20:35:00.000Z', names: ['PostgreSQL main'], worst: '2026-11-15T20:12:00.000Z' },
    { from: '2026-11-15T17:55:00.000Z', to: '2026-11-15T18:20:00.000Z', names: ['mail'], worst: '2026-11-15T18:00:00.000Z' },
  ]);
});

it('never reaches into the future, nor further than may be asked', () => {
  const [found] = incidentsOf([change('20:00', 'a', 'down'), change('20:10', 'a', 'down')], Date.parse('2026-11-15T20:11:00Z'), 60_000);
  expect(found).toMatchObject({ from: '2026-11-15T20:10:00.000Z', to: '2026-11-15T20:11:00.000Z' });
});

it('offers no blip, nothing that only got better, and not too many', () => {
  expect(incidentsOf([change('20:00', 'a', 'down')], NOW, WEEK)).toEqual([]);
  expect(incidentsOf([change('20:00', 'a', 'healthy'), change('20:01', 'b', 'healthy')], NOW, WEEK)).toEqual([]);
  expect(incidentsOf([], NOW, WEEK)).toEqual([]);
  const many = ['01', '02', '03', '04', '05'].flatMap((hour) => [
    change(`${hour}:00`, 'a', 'down'),
    change(`${hour}:05`, 'a', 'healthy'),
  ]);
  expect(incidentsOf(many, NOW, WEEK)).toHaveLength(INCIDENTS_LIMIT);
});

it('is called by its causes, and by who broke first until they are known', () => {
  expect(aboutText(['shop', 'db'], undefined)).toBe('shop and 1 more');
  expect(aboutText(['shop'], undefined)).toBe('shop');
  expect(aboutText(['shop', 'cart'], ['db'])).toBe('db');
  expect(aboutText(['shop'], ['db', 'mail', 'dns'])).toBe('db and 2 more');
  expect(aboutText(['shop'], [])).toBe('shop');
});
