import { describe, expect, it } from 'vitest';
import {
  asksFor,
  asksToDelete,
  asksToUnload,
  changeUnloads,
  deedsFor,
  deedsInRow,
  idleNets,
  loadedText,
  loadText,
  unloads,
  type WorkerDeed,
} from './deeds';
import { net, worker } from './sample';
import { byPlace, checksText, doingTo, glyphOf, groupText, lostOf, machineText, outagesOf, placeOf, placeText, providedText, providerOptions, stepsOf, timeShare } from './words';

const operation = { kind: 'provision', since: '2026-11-17T03:00:00.000Z', deadline: '2026-11-17T03:05:00.000Z' };

it('groups workers by where they stand, those in error first', () => {
  const groups = byPlace([
    worker('b10'),
    worker('b9'),
    worker('z', { status: 'error' }),
    worker('here', { provider: 'process', region: null }),
    worker('far', { provider: 'sprite', region: null }),
    worker('tokyo', { region: 'nrt' }),
  ]);
  expect(groups.map(({ place }) => place)).toEqual(['anywhere', 'fra', 'nrt', 'this host']);
  expect(groups[1]?.workers.map(({ id }) => id)).toEqual(['z', 'b9', 'b10']);
  expect(groups.map(groupText)).toEqual(['1 worker', '3 workers, 1 in error', '1 worker', '1 worker']);
  expect(placeOf(worker('w', { provider: 'process', region: 'fra' }))).toBe('fra');
});

it('names the workers that are lost, the longest first', () => {
  const lost = lostOf([
    worker('well'),
    worker('late', { status: 'error', status_since: '2026-11-17T03:05:00.000Z' }),
    worker('early', { status: 'error', status_since: '2026-11-17T03:01:00.000Z' }),
    worker('off', { status: 'stopped' }),
  ]);
  expect(lost.map(({ id }) => id)).toEqual(['early', 'late']);
});

it('tells which providers are in trouble, and how', () => {
  const trouble = (code: string) => ({ code, detail: 'Why.', since: '2026-11-17T03:00:00.000Z', asked_at: '2026-11-17T03:05:00.000Z' });
  const told = outagesOf([
    { provider: 'process', is_set_up: true, settings: 'nothing', trouble: null },
    { provider: 'fly', is_set_up: true, settings: '', trouble: trouble('denied') },
    { provider: 'sprite', is_set_up: true, settings: '', trouble: trouble('unreachable') },
  ]);
  expect(told.map(({ title }) => title)).toEqual(['Fly refuses our token', "Sprites can't be reached"]);
  expect(told[0]).toMatchObject({ provider: 'fly', detail: 'Why.', asked: '2026-11-17T03:05:00.000Z' });
});

it('says where a worker stands, and where it should where that is another place', () => {
  const of = (region: string | null, machine: string | null) => worker('w', { region, machine_region: machine });
  expect([of('fra', null), of('fra', 'fra'), of(null, 'ams'), of(null, null)].map(placeText)).toEqual(['fra', 'fra', 'ams', 'anywhere']);
  expect(placeText(of('fra', 'ams'))).toBe('ams, although fra was asked for');
  expect(placeOf(of('fra', 'ams'))).toBe('ams');
  expect(machineText(worker('w', { provider: 'fly' }))).toBe('small, persistent');
  expect(machineText(worker('w', { provider: 'process' })), 'nobody chose it').toBe('persistent');
});

it('offers the providers that are set up, and says what the others need', () => {
  const settings = 'FLY_API_TOKEN, FLY_APP and FLY_IMAGE';
  const offered = providerOptions([
    { provider: 'process', is_set_up: true, settings: 'nothing', trouble: null },
    { provider: 'fly', is_set_up: false, settings, trouble: null },
    { provider: 'sprite', is_set_up: true, settings: 'SPRITES_TOKEN', trouble: null },
  ]);
  expect(offered.map(({ value, off = false }) => [value, off])).toEqual([
    ['process', false],
    ['fly', true],
    ['sprite', false],
  ]);
  expect(offered[1]?.title).toBe(`Fly: a machine (not set up: needs ${settings})`);
  expect(providerOptions([]).filter(({ off }) => off)).toEqual([]);
});

it('says what is done to a worker beside its state', () => {
  expect(doingTo(worker('w'))).toBeNull();
  expect(doingTo(worker('w', { operation: { ...operation, kind: 'stop' } }))).toBe('stopping');
  expect(doingTo(worker('w', { status: 'provisioning', operation }))).toBeNull();
  expect(doingTo(worker('w', { status: 'provisioning', operation: { ...operation, kind: 'retry' } }))).toBeNull();
  expect(doingTo(worker('w', { status: 'provisioning', operation: { ...operation, kind: 'destroy' } }))).toBe('being destroyed');
  expect(glyphOf({ status: 'provisioning' })).toBe('unknown');
  expect(providedText(worker('w'))).toBe('Fly, started');
  expect(providedText(worker('w', { provider_state: null, provider: 'process' }))).toBe('this host');
});

it('tells how far a machine has come', () => {
  const now = Date.parse('2026-11-17T03:01:00.000Z');
  expect(timeShare({ operation }, now)).toBeCloseTo(0.2);
  expect(timeShare({ operation }, 0)).toBe(0);
  expect(timeShare({ operation: { ...operation, deadline: null } }, now)).toBeNull();
  expect(timeShare({ operation: null }, now)).toBeNull();
  const states = (url: string | null) => stepsOf(worker('w', { operation, url })).map(({ state }) => state);
  expect(states(null)).toEqual(['now', 'ahead', 'ahead']);
  expect(states('http://x')).toEqual(['done', 'now', 'ahead']);
  expect(stepsOf(worker('w', { operation: { ...operation, kind: 'stop' } }))).toEqual([]);
});

it('counts the checks of a net', () => {
  expect(checksText(net('n'))).toBe('1 service');
  expect(checksText({ definition: {} })).toBe('0 services');
  expect(checksText({ definition: { services: [null, 1], journeys: ['a'] } })).toBe('2 services, 1 journey');
});

describe('what can be done', () => {
  const orphaned = {
    id: 'o',
    kind: 'delete',
    ended_at: '2026-11-17T12:00:00.000Z',
    code: 'provider_not_configured',
    detail: 'the provider fly is not set up here',
  };

  it.each([
    ['pending', {}, ['provision', 'delete']],
    ['provisioning', {}, ['destroy', 'delete']],
    ['ready', {}, ['health-check', 'stop', 'destroy', 'delete']],
    ['ready', { category: 'ephemeral' }, ['health-check', 'destroy', 'delete']],
    ['stopped', {}, ['start', 'health-check', 'destroy', 'delete']],
    ['error', {}, ['retry', 'health-check', 'destroy', 'delete']],
    ['error', { url: null }, ['retry', 'health-check', 'destroy', 'delete']],
    ['provisioning', { operation }, ['destroy', 'delete']],
    ['stopped', { last_operation: orphaned }, ['start', 'health-check', 'destroy', 'delete', 'forget']],
    ['pending', { last_operation: { ...orphaned, code: null } }, ['provision', 'delete']],
    ['ready', { operation: { ...operation, kind: 'stop' } }, []],
  ] as const)('%s %o', (status, more, deeds) => {
    expect(deedsFor(worker('w', { status, ...more }))).toEqual(deeds);
  });

  it('has no end for good beside a row', () => {
    expect(deedsInRow(worker('w'), false)).toEqual(['health-check', 'stop']);
    expect(deedsInRow(worker('w'), true)).toEqual([]);
    expect(deedsInRow(worker('w', { status: 'error' }), false)).toEqual(['retry', 'health-check']);
    expect(deedsInRow(worker('w', { status: 'provisioning' }), false)).toEqual([]);
  });

  it('offers to load what a worker could run and does not', () => {
    const nets = [
      net('runs'),
      net('waits', { load_state: 'unloaded' }),
      net('failed', { load_state: 'error' }),
      net('begun', { load_state: 'unloaded', operation: { ...operation, kind: 'load' } }),
    ];
    const idle = (more: Parameters<typeof worker>[1]) => idleNets(worker('w', more), nets).map(({ id }) => id);
    expect(idle({})).toEqual(['waits', 'failed']);
    expect(idle({ status: 'stopped' })).toEqual([]);
    expect(idle({ operation: { ...operation, kind: 'stop' } })).toEqual([]);
    expect([loadText(1), loadText(3)]).toEqual(['Load its net', 'Load its 3 nets']);
    const said = (loaded: number, asked: number) => loadedText({ name: 'fra-1' }, loaded, asked);
    expect(said(3, 3)).toBe('All 3 nets of fra-1 are loaded');
    expect(said(2, 3)).toBe('2 of 3 nets of fra-1 are loaded');
    expect([said(1, 1), said(0, 1)]).toEqual(['The net of fra-1 is loaded', 'The net of fra-1 is not loaded']);
  });

  it('names what is unloaded, and nothing else', () => {
    expect(unloads([])).toBe('No net is loaded on it.');
    expect(unloads([net('a', { load_state: 'unloaded' })])).toBe('No net is loaded on it.');
    expect(unloads([net('a')])).toBe('One net is unloaded: a.');
    expect(unloads([net('a'), net('b'), net('c')])).toBe('3 nets are unloaded: a, b and c.');
    const many = Array.from({ length: 11 }, (_, at) => net(`n${String(at)}`));
    expect(unloads(many)).toBe('11 nets are unloaded: n0, n1, n2, n3, n4, n5, n6, n7 and 3 more.');
  });

  it('asks before whatever takes something away or costs', () => {
    const asked = (deed: WorkerDeed) => asksFor(deed, worker('fra-1'), [net('checkout')]);
    for (const deed of ['stop', 'destroy', 'retry', 'delete'] as const) {
      expect(asked(deed)?.text, deed).toContain('One net is unloaded: checkout.');
      expect(asked(deed)?.title, deed).toContain('fra-1');
    }
    const making = worker('fra-1', { status: 'provisioning', operation });
    expect(asksFor('destroy', making, [])?.text).toContain('called off');
    expect(asked('provision')?.text).toContain('No net is unloaded');
    expect([asked('start'), asked('health-check')]).toEqual([null, null]);
    expect(asksToUnload(net('checkout'), worker('fra-1')).text).toContain('from fra-1');
    expect(asksToDelete(net('checkout'), worker('fra-1')).text).toContain('unloaded from fra-1');
    expect(asksToDelete(net('checkout', { load_state: 'unloaded' }), undefined).text).toBe('Its definition is removed for good.');
  });

  it('knows which change of a net unloads it', () => {
    const one = net('checkout');
    const same = { definition: JSON.stringify(one.definition), worker_id: 'w1' };
    expect(changeUnloads(one, same)).toBe(false);
    expect(changeUnloads(one, { ...same, worker_id: null })).toBe(true);
    expect(changeUnloads(one, { ...same, definition: '{}' })).toBe(true);
    expect(changeUnloads(net('n', { load_state: 'error' }), { ...same, worker_id: null })).toBe(false);
    expect(changeUnloads(null, same)).toBe(false);
  });
});
