import { describe, expect, it } from 'vitest';
import type { NowCause, NowCounts, NowHurt } from './api/now';
import type { Answer } from './api/client';
import type { PollAnswer } from './api/services';
import { branches, calmText, disputesText, hurtsText, hurtText, leaningText, opens, polledText, rowOf, summary, titleOf, worsenedText } from './now';
import { format } from './route';

const NONE: NowCounts = {
  root_causes: 0,
  root_services: 0,
  affected: 0,
  healthy: 0,
  unknown: 0,
  inactive: 0,
  services: 0,
};

const node = (id: string, kind: 'service' | 'external' = 'service') => ({
  id,
  kind,
  name: id.toUpperCase(),
  status: 'down' as const,
});

const hurt = (id: string, via: string, affected = true): NowHurt => ({
  id,
  name: id,
  status: affected ? 'degraded' : 'healthy',
  affected,
  distance: 1,
  via,
});

const cause = (more: Partial<NowCause>): NowCause => ({
  nodes: [node('a')],
  node_count: 1,
  status: 'down',
  since: null,
  status_since: null,
  hurts: 0,
  affected: 0,
  contradicted: false,
  error_message: null,
  impact: null,
  contact: null,
  description: null,
  team: null,
  disputes: [],
  reported_by: [],
  reporter_count: 0,
  hurt: [],
  service_ids: [],
  ...more,
});

const polled = (more: Partial<PollAnswer>): Answer<PollAnswer> => ({
  ok: true,
  sentAt: 0,
  gotAt: 0,
  value: {
    success: true,
    latency_ms: 1,
    error: null,
    dependencies_updated: 1,
    warnings: [],
    status_changes: [],
    ...more,
  } as PollAnswer,
});

describe('the line above every page', () => {
  it.each<[Partial<NowCounts>, string[]]>([
    [{ healthy: 1204 }, ['No root cause', '1\u202f204 healthy → /services?filter=status%3Ahealthy']],
    [
      { root_causes: 2, root_services: 2, affected: 41, healthy: 7 },
      [
        '2 root causes → /services?filter=is%3Aroot',
        '41 affected → /services?filter=is%3Aaffected',
        '7 healthy → /services?filter=status%3Ahealthy',
      ],
    ],
    // What is no service is not in the list of services.
    [{ root_causes: 1 }, ['1 root cause → /']],
    [{ unknown: 3 }, ['No root cause', '3 unknown → /services?filter=status%3Aunknown']],
  ])('tells of %o', (counts, expected) => {
    const told = summary({ counts: { ...NONE, services: 1, ...counts }, items: [] }).map(({ count, words, leads }) => {
      const text = count === null ? words : `${count} ${words}`;
      return leads === null ? text : `${text} → ${format(leads) ?? ''}`;
    });
    expect(told).toEqual(expected);
  });

  it('does not call well what nobody asks', () => {
    expect(summary({ counts: NONE, items: [] })).toEqual([{ status: 'unknown', count: null, words: 'Nothing watched yet', leads: null }]);
  });
});

describe('the number of root causes', () => {
  const cause = (status: NowCause['status']) => ({ status }) as NowCause;

  it.each<[NowCause[], string]>([
    [[cause('degraded')], 'degraded'],
    [[cause('degraded'), cause('down')], 'down'],
    // Nobody knows of those that are not listed.
    [[], 'down'],
  ])('has the glyph of the worst of %j', (items, status) => {
    const [first] = summary({ counts: { ...NONE, services: 1, root_causes: 1 }, items });
    expect(first?.status).toBe(status);
  });
});

describe('those who do not agree', () => {
  const named = (id: string, status: 'healthy' | 'down' = 'healthy') => ({ ...node(id), status });
  const says = (by: string, of = 'a', word: 'healthy' | 'down' = 'healthy') => ({ by: named(by), of: named(of), says: word });

  it.each<[string, Partial<NowCause>, string]>([
    ['nobody', {}, ''],
    ['one', { disputes: [says('b')] }, 'B finds it healthy.'],
    ['two', { disputes: [says('b'), says('c')] }, 'B and C find it healthy.'],
    ['what it says of another', { disputes: [says('a', 'b', 'down')] }, 'It finds B down, which is healthy.'],
    ['both', { disputes: [says('b'), says('a', 'c', 'down')] }, 'B finds it healthy. It finds C down, which is healthy.'],
    [
      'members of a circle',
      { nodes: [node('a'), node('b')], node_count: 2, disputes: [says('c', 'b'), says('a', 'd', 'down')] },
      'C finds B healthy. A finds D down, which is healthy.',
    ],
  ])('are named: %s', (_, more, text) => {
    expect(disputesText(cause(more))).toBe(text);
  });
});

describe('while nothing is broken', () => {
  it.each<[Partial<NowCounts>, string]>([
    [{ services: 3, healthy: 3 }, 'All 3 services are healthy.'],
    [{ services: 1, healthy: 1 }, 'The one service is healthy.'],
    [{ services: 4, healthy: 2, unknown: 1, inactive: 1 }, 'Nothing is known to be broken. Of 3 services, 1 is not known.'],
    [{ services: 2, unknown: 2 }, 'Nothing is known yet. The first polls are under way.'],
    [{ services: 2, inactive: 2 }, 'Every service is switched off, so nothing is asked.'],
  ])('says of %o', (counts, text) => {
    expect(calmText({ ...NONE, ...counts })).toBe(text);
  });
});

describe('a root cause', () => {
  it.each([
    [['a'], 1, 'A'],
    [['a', 'b'], 2, 'A and B'],
    [['a', 'b', 'c'], 3, 'A, B and C'],
    [['a', 'b', 'c', 'd'], 9, 'A, B and 7 more'],
    [[], 0, ''],
  ])('of %o is called by its nodes', (ids, count, title) => {
    expect(titleOf({ nodes: ids.map((id) => node(id)), node_count: count })).toBe(title);
  });

  it('opens where it is shown in full', () => {
    const external = cause({ nodes: [node('external:db', 'external')] });
    expect(format(opens(cause({ nodes: [node('0a')] })) ?? fail())).toBe('/services/0a');
    expect(format(opens(external) ?? fail())).toBe('/graph/thing?node=external%3Adb');
    expect(opens({ nodes: [] })).toBeNull();
    expect(rowOf(external)).toBe('external:db');
  });

  it('shows whom it hurts as a tree', () => {
    const all = [hurt('b', 'a'), hurt('c', 'a'), hurt('d', 'b'), hurt('e', 'd'), hurt('f', 'c'), hurt('w', 'a', false)];
    expect(branches({ hurt: all }).map(({ id, depth }) => `${'-'.repeat(depth)}${id}`)).toEqual([
      'b',
      '-d',
      '--e',
      'c',
      '-f',
    ]);
  });
});

it.each([
  [0, 0, 'Nobody leans on it', '', 'hurts nobody else'],
  [6, 0, 'Nobody is hurt yet', '6 services lean on it', 'hurts nobody yet, 6 services lean on it'],
  [6, 1, '1 service hurt', '5 more lean on it', 'hurts 1 of 6 services'],
  [2, 1, '1 service hurt', '1 more leans on it', 'hurts 1 of 2 services'],
  [11, 11, '11 services hurt', '', 'hurts 11 services'],
])('of %i who lean on it, %i are hurt', (hurts, affected, hurt, leaning, sentence) => {
  const told = { hurts, affected };
  expect([hurtText(told), leaningText(told), hurtsText(told)]).toEqual([hurt, leaning, sentence]);
});

it('tells of what is well whom it would hurt', () => {
  expect(hurtText({ hurts: 6, affected: 0 }, false)).toBe('Whom it would hurt');
  expect(hurtText({ hurts: 0, affected: 0 }, false)).toBe('Nobody leans on it');
  expect(hurtText({ hurts: 6, affected: 2 }, false)).toBe('2 services hurt');
});

describe('polls of several', () => {
  const refused: Answer<PollAnswer> = {
    ok: false,
    failure: { title: 'There are too many requests', detail: '', requestId: null, code: null, status: 429, retryAfter: 1 },
  };

  it.each([
    [[polled({})], '1 of 1 service answered; nothing changed.'],
    [[polled({}), refused], '1 of 2 services answered; 1 could not be polled now: there are too many requests, try again in 1 s; nothing changed.'],
    [
      [polled({ success: false, error: { kind: 'timeout', message: 'too slow' } })],
      '0 of 1 service answered; too slow; nothing changed.',
    ],
    [
      [
        polled({
          status_changes: [{ dependency_name: 'db', previous: 'down', current: 'healthy' }] as never,
        }),
      ],
      '1 of 1 service answered; db is healthy.',
    ],
  ])('%# are told in one sentence', (answers, text) => {
    expect(polledText(answers)).toBe(text);
  });
});

function fail(): never {
  throw new Error('it leads nowhere');
}

describe('what got worse', () => {
  const database = cause({ nodes: [{ ...node('db', 'external'), name: 'PostgreSQL main' }], hurts: 14, affected: 11 });
  const told = (before: NowCause[], after: NowCause[]) => worsenedText({ items: before }, { items: after });

  it.each<[string, Partial<NowCause> | null, string | null]>([
    ['new', null, 'PostgreSQL main is down, 11 services hurt'],
    ['down and was degraded', { status: 'degraded' }, 'PostgreSQL main is down, 11 services hurt'],
    ['the same, but hurts more', { affected: 4 }, 'PostgreSQL main is down, 11 services hurt'],
    ['as it was', {}, null],
    ['the same, but hurts fewer', { affected: 12 }, null],
  ])('is told of a cause that is %s', (_, before, text) => {
    expect(told(before === null ? [] : [{ ...database, ...before }], [database])).toBe(text);
  });

  it('is not told of a cause that is better, or gone', () => {
    expect(told([database], [{ ...database, status: 'degraded' }])).toBeNull();
    expect(told([database], [])).toBeNull();
  });

  it('is told of several, of circles, and of what hurts nobody', () => {
    const circle = cause({ nodes: [node('b'), node('c')], node_count: 2, status: 'degraded', hurts: 1, affected: 1 });
    expect(told([], [circle, cause({})])).toBe('B and C are degraded, 1 service hurt; A is down');
    expect(told([], Array.from('vwxyz', (id) => cause({ nodes: [node(id)] })))).toBe('V is down; W is down; X is down');
  });
});
