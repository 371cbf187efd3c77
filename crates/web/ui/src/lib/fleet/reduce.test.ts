import { describe, expect, it } from 'vitest';
import type { LiveEvent } from '../live/messages';
import { heard, readAnew, withRead, without, type FleetState } from './reduce';
import { net, worker } from './sample';

const AT = '2026-11-17T03:07:21.114Z';
let seq = 0;

function event(type: string, fields: Record<string, unknown>): LiveEvent {
  seq += 1;
  return { type, seq, stream: 'user:u1', at: AT, ...fields };
}

const moved = (fields: Record<string, unknown>) =>
  event('worker_state_changed', { worker_id: 'w1', status: 'error', operation: null, generation: 5, ...fields });
const cast = (fields: Record<string, unknown>) =>
  event('net_state_changed', { net_id: 'n1', load_state: 'unloaded', worker_id: 'w1', operation: null, generation: 3, ...fields });

function fleet(): FleetState {
  return {
    workers: new Map([['w1', worker('w1')], ['w2', worker('w2')]]),
    nets: new Map([['n1', net('n1')], ['n2', net('n2', { worker_id: 'w2' })]]),
  };
}

describe('a worker', () => {
  it('stands where its event says, since then, and is read again for the reason', () => {
    const before = fleet();
    const { state, unread } = heard(before, moved({}));
    expect(state.workers.get('w1')).toMatchObject({ status: 'error', status_since: AT, generation: 5, reason: null });
    expect(unread).toEqual({ workers: ['w1'], nets: [] });
    // What did not change is the same, so that only one row is drawn.
    expect(state.workers.get('w2')).toBe(before.workers.get('w2'));
    expect(state.nets).toBe(before.nets);
    expect(before.workers.get('w1')?.status).toBe('ready');
  });

  it('shows what is done to it at once, and since when, while its end is not known yet', () => {
    const begun = heard(fleet(), moved({ status: 'ready', operation: 'stop' })).state;
    expect(begun.workers.get('w1')).toMatchObject({
      status: 'ready',
      status_since: '2026-11-17T03:00:00.000Z',
      operation: { kind: 'stop', since: AT, deadline: null },
    });
    const known = { kind: 'stop', since: AT, deadline: '2026-11-17T03:09:21.114Z' };
    const read = { ...begun, workers: withRead(begun.workers, worker('w1', { generation: 5, operation: known })) };
    const on = heard(read, moved({ status: 'ready', operation: 'stop', generation: 6 })).state;
    expect(on.workers.get('w1')?.operation).toBe(known);
    const ended = heard(on, moved({ status: 'stopped', generation: 7 })).state;
    expect(ended.workers.get('w1')).toMatchObject({ status: 'stopped', operation: null });
  });

  it('is not moved by what is older, by what cannot be read, nor by what is not known', () => {
    const before = fleet();
    for (const [fields, unread] of [
      [{ generation: 4 }, []],
      [{ generation: 3 }, []],
      [{ generation: 'x' }, []],
      [{ status: 'melted' }, ['w1']],
      [{ worker_id: 'w9' }, ['w9']],
      [{ worker_id: 7 }, []],
    ] as const) {
      const { state, unread: read } = heard(before, moved(fields));
      expect(state, JSON.stringify(fields)).toBe(before);
      expect(read.workers, JSON.stringify(fields)).toEqual(unread);
    }
  });

  it('is gone with its event, and its nets are looked at', () => {
    const { state, unread } = heard(fleet(), event('worker_removed', { worker_id: 'w2' }));
    expect([...state.workers.keys()]).toEqual(['w1']);
    expect(unread).toEqual({ workers: [], nets: ['n2'] });
    const again = heard(state, event('worker_removed', { worker_id: 'w2' })).state;
    expect(again.workers).toBe(state.workers);
  });
});

describe('a net', () => {
  it('is loaded or not as its event says, on the worker that it names', () => {
    const { state, unread } = heard(fleet(), cast({}));
    expect(state.nets.get('n1')).toMatchObject({ load_state: 'unloaded', load_state_since: AT, worker_id: 'w1' });
    expect(unread).toEqual({ workers: [], nets: ['n1'] });
    const away = heard(state, cast({ worker_id: null, generation: 4 })).state;
    expect(away.nets.get('n1')).toMatchObject({ worker_id: null, load_state_since: AT });
    expect(heard(away, cast({ load_state: 'loaded', generation: 4 })).state).toBe(away);
  });

  it('is gone with its event', () => {
    const { state } = heard(fleet(), event('net_removed', { net_id: 'n1' }));
    expect([...state.nets.keys()]).toEqual(['n2']);
  });
});

it('a crash is told as one worker in error and every net of it unloaded', () => {
  const events = [moved({}), cast({})];
  const state = events.reduce((now, one) => heard(now, one).state, fleet());
  expect(state.workers.get('w1')?.status).toBe('error');
  expect(state.nets.get('n1')?.load_state).toBe('unloaded');
  expect(state.nets.get('n2')?.load_state).toBe('loaded');
});

it('another event changes nothing', () => {
  const before = fleet();
  expect(heard(before, event('status:change', {})).state).toBe(before);
});

describe('what was read', () => {
  it('does not undo what was heard meanwhile', () => {
    const before = new Map([['w1', worker('w1', { generation: 9, status: 'error' })], ['w3', worker('w3')]]);
    const came = [worker('w1', { generation: 8 }), worker('w2'), worker('w4')];
    const after = readAnew(before, came, new Set(['w4']));
    expect([...after.keys()]).toEqual(['w1', 'w2']);
    expect(after.get('w1')?.status).toBe('error');
  });

  it('takes its place when it is as new', () => {
    const before = new Map([['w1', worker('w1', { reason: null })]]);
    const after = withRead(before, worker('w1', { reason: 'gone' }));
    expect(after.get('w1')?.reason).toBe('gone');
    expect(withRead(after, worker('w1', { generation: 1 })).get('w1')?.reason).toBe('gone');
    expect(without(after, 'w9')).toBe(after);
  });
});
