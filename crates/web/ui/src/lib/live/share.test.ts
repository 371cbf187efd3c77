import { expect, it } from 'vitest';
import { pair } from './channel';
import { channelName, wayFor } from './share';
import type { Message } from './messages';

it.each([
  [{ locks: true, worker: true, channel: true }, 'locks'],
  [{ locks: false, worker: true, channel: true }, 'worker'],
  [{ locks: false, worker: false, channel: true }, 'alone'],
  [{ locks: true, worker: true, channel: false }, 'alone'],
] as const)('with %o the tabs share by %s', (abilities, way) => {
  expect(wayFor(abilities)).toBe(way);
});

it('keeps people apart', () => {
  expect(channelName('1')).not.toBe(channelName('2'));
});

it('joins the two ends within one tab', async () => {
  const [one, other] = pair();
  const heard: Message[] = [];
  other.hear((message) => heard.push(message));
  one.post({ kind: 'try' });
  expect(heard).toEqual([]);
  await Promise.resolve();
  expect(heard).toEqual([{ kind: 'try' }]);
  other.close();
  one.post({ kind: 'try' });
  await Promise.resolve();
  expect(heard).toHaveLength(1);
});
