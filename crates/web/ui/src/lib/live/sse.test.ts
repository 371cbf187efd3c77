import { describe, expect, it } from 'vitest';
import { BlockReader, PENDING_LIMIT, type Block } from './sse';

function read(...pieces: string[]): Block[] {
  const reader = new BlockReader();
  return pieces.flatMap((piece) => reader.push(piece));
}

const message = (data: string | null, more: Partial<Block> = {}): Block => ({
  event: 'message',
  data,
  id: null,
  retry: null,
  ...more,
});

describe('a block', () => {
  it.each<[string, string, Block[]]>([
    ['data', 'data: a\n\n', [message('a')]],
    ['data without a space', 'data:a\n\n', [message('a')]],
    ['only one space is taken off', 'data:  a\n\n', [message(' a')]],
    ['data of several lines', 'data: a\ndata\ndata: b\n\n', [message('a\n\nb')]],
    ['empty data', 'data\n\n', [message('')]],
    ['an event by name', 'event: reset\ndata: {}\n\n', [message('{}', { event: 'reset' })]],
    ['an id alone', 'id: e.1.2\n\n', [message(null, { id: 'e.1.2' })]],
    ['an empty id', 'id\n\n', [message(null, { id: '' })]],
    ['an id with a NUL is none', 'id: a\0b\ndata: x\n\n', [message('x')]],
    ['when to come again', 'retry: 1500\n\n', [message(null, { retry: 1500 })]],
    ['no number of milliseconds', 'retry: 1.5\ndata: x\n\n', [message('x')]],
    ['a comment', ': keepalive\n\n', []],
    ['a comment before an id', ': keepalive\n\nid: e.1.2\n\n', [message(null, { id: 'e.1.2' })]],
    ['a field of another age', 'colour: red\ndata: x\n\n', [message('x')]],
    ['several', 'data: a\n\ndata: b\n\n', [message('a'), message('b')]],
    ['a colon in the data', 'data: {"a":1}\n\n', [message('{"a":1}')]],
    ['nothing between empty lines', '\n\n\n', []],
    ['one that was never ended', 'data: a\n', []],
    ['ended by CRLF', 'data: a\r\n\r\n', [message('a')]],
    ['ended by CR', 'data: a\r\rdata: b\r\r', [message('a'), message('b')]],
    ['a byte order mark at the start', '\ufeffdata: a\n\n', [message('a')]],
    ['a byte order mark later', 'data: \ufeffa\n\n', [message('\ufeffa')]],
  ])('of %s', (_name, text, blocks) => {
    expect(read(text)).toEqual(blocks);
  });
});

describe('pieces', () => {
  const text =
    '\ufeff: hello\r\nretry: 900\r\n\r\nid: e.1.0\r\ndata: {"a":"ü"}\r\n\r\n' +
    'event: reset\rdata: 1\rdata: 2\r\rid: e.2.0\n\ndata: last\n\n';
  const whole = read(text);

  it('may be cut anywhere in two', () => {
    for (let at = 0; at <= text.length; at += 1) {
      expect(read(text.slice(0, at), text.slice(at)), String(at)).toEqual(whole);
    }
  });

  it('may be single letters, with nothing in between', () => {
    expect(read(...text.split('').flatMap((letter) => [letter, '']))).toEqual(whole);
    expect(whole).toHaveLength(5);
  });

  it('may not grow without end', () => {
    const reader = new BlockReader();
    expect(() => reader.push('x'.repeat(PENDING_LIMIT + 1))).toThrow(RangeError);
    const lines = new BlockReader();
    const line = `data: ${'x'.repeat(1_000)}\n`;
    expect(() => {
      for (let at = 0; at < 2_000; at += 1) lines.push(line);
    }).toThrow(RangeError);
  });
});
