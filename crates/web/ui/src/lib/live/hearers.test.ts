import { expect, it } from 'vitest';
import { Hearers } from './hearers';
import type { LiveEvent } from './messages';

const event = (type: string, seq: number): LiveEvent => ({ type, seq, stream: 'org', at: '' });

it('tells each one what it wants to know, until it does not any more', () => {
  const hearers = new Hearers();
  const heard: string[] = [];
  const stop = hearers.on(['a', 'b'], ({ type, seq }) => heard.push(`${type}${String(seq)}`));
  hearers.on(['c'], ({ type }) => heard.push(type));
  hearers.tell([event('b', 1), event('x', 2), event('c', 3)], null);
  stop();
  hearers.tell([event('a', 4)], null);
  expect(heard).toEqual(['b1', 'c']);
});

it('tells everyone to read again, after what happened', () => {
  const hearers = new Hearers();
  const heard: string[] = [];
  const stop = hearers.onReload((why) => heard.push(why));
  hearers.on(['a'], () => heard.push('event'));
  hearers.tell([event('a', 1)], 'joined');
  hearers.tell([], 'reset');
  stop();
  hearers.tell([], 'reset');
  expect(heard).toEqual(['event', 'joined', 'reset']);
});

it('lets somebody go while it tells', () => {
  const hearers = new Hearers();
  const heard: string[] = [];
  const stop = hearers.on(['a'], () => {
    heard.push('first');
    stop();
  });
  hearers.on(['a'], () => heard.push('second'));
  hearers.tell([event('a', 1), event('a', 2)], null);
  expect(heard).toEqual(['first', 'second', 'second']);
});
