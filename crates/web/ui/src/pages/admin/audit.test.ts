import { describe, expect, it } from 'vitest';
import { actorName, targetName } from './audit';

describe('who did it', () => {
  it.each([
    ['user', 'ana@example.com', 'ana@example.com'],
    ['token', 'ana@example.com', 'ana@example.com by token'],
    ['cli', null, 'command line'],
    ['cli', 'ana@example.com', 'ana@example.com by command line'],
    ['public', null, 'without an account'],
    ['user', null, 'user'],
  ] as const)('a %s with %s is %s', (kind, email, name) => {
    expect(actorName({ kind, id: null, email })).toBe(name);
  });

  it('falls back to the id', () => {
    expect(actorName({ kind: 'user', id: '7', email: null })).toBe('7');
  });
});

describe('to what it was done', () => {
  const target = { kind: 'user', id: '7' };

  it('is told by name where the entry has one', () => {
    expect(targetName({ target, detail: { email: 'ana@example.com' } })).toBe('user ana@example.com');
    expect(targetName({ target, detail: { name: 'deploy' } })).toBe('user deploy');
    expect(targetName({ target, detail: { email: 7 } })).toBe('user 7');
    expect(targetName({ target: { kind: 'settings', id: null }, detail: {} })).toBe('settings');
  });
});
