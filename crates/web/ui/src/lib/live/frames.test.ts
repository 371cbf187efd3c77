import { describe, expect, it } from 'vitest';
import { meaning } from './frames';
import type { Block } from './sse';

const block = (more: Partial<Block>): Block => ({
  event: 'message',
  data: null,
  id: null,
  retry: null,
  ...more,
});
const here = { epoch: 'a', org: 1, user: 0 };
const there = { epoch: 'a', org: 2, user: 0 };
const happened = { type: 'x', seq: 2, stream: 'org', at: '2026-11-16T08:00:00.000Z' };

describe('a block means', () => {
  it.each<[string, Block, typeof here | null, object]>([
    [
      'something that happened',
      block({ id: 'a.2.0', data: JSON.stringify(happened) }),
      here,
      { kind: 'frame', frame: { before: here, to: there, event: happened, reset: false } },
    ],
    [
      'a place that moved',
      block({ id: 'a.2.0' }),
      here,
      { kind: 'frame', frame: { before: here, to: there, event: null, reset: false } },
    ],
    ['nothing, when the place is known', block({ id: 'a.1.0' }), here, { kind: 'nothing' }],
    [
      'a place that moved, when what happened can’t be read',
      block({ id: 'a.2.0', data: '{' }),
      here,
      { kind: 'frame', frame: { before: here, to: there, event: null, reset: false } },
    ],
    ['nothing, without a place', block({ data: JSON.stringify(happened) }), here, { kind: 'nothing' }],
    ['nothing, at no place of ours', block({ id: '7', data: '{"type":"x"}' }), here, { kind: 'nothing' }],
    [
      'a fresh start',
      block({ event: 'snapshot', data: '{"position":"a.2.0"}' }),
      null,
      { kind: 'frame', frame: { before: null, to: there, event: null, reset: false } },
    ],
    [
      'a fresh start, by its id',
      block({ event: 'snapshot', id: 'a.2.0', data: '{}' }),
      null,
      { kind: 'frame', frame: { before: null, to: there, event: null, reset: false } },
    ],
    [
      'a reset, when somebody who knew more is given a fresh start',
      block({ event: 'snapshot', data: '{"position":"a.2.0"}' }),
      here,
      { kind: 'frame', frame: { before: here, to: there, event: null, reset: true } },
    ],
    [
      'a reset',
      block({ event: 'reset', data: '{"reason":"epoch","position":"a.2.0"}' }),
      here,
      { kind: 'frame', frame: { before: here, to: there, event: null, reset: true } },
    ],
    ['the end for this browser', block({ event: 'superseded', data: '{}' }), here, { kind: 'superseded' }],
    ['the end of the session', block({ event: 'auth_expired', data: '{}' }), here, { kind: 'signed-out' }],
    ['nothing, by a name of another age', block({ event: 'later', id: 'a.2.0' }), here, { kind: 'nothing' }],
    ['nothing, when it only says when to come again', block({ retry: 900 }), here, { kind: 'nothing' }],
  ])('%s', (_name, given, before, result) => {
    expect(meaning(given, before)).toEqual(result);
  });
});
