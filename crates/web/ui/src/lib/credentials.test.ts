import { describe, expect, it } from 'vitest';
import { emailProblem, PASSWORD_MAX, passwordHint, passwordProblem } from './credentials';

describe('an e-mail address', () => {
  it.each(['ana@example.com', '  ana@example.com ', 'a@b', 'ANA+x@example.co.uk'])(
    'may be %j',
    (email) => {
      expect(emailProblem(email)).toBeNull();
    },
  );

  it.each(['', '   ', 'ana', '@', 'ana@', '@example.com', 'a b@c.d', 'a@b@c', `${'a'.repeat(250)}@b.cd`])(
    'may not be %j',
    (email) => {
      expect(emailProblem(email)).not.toBeNull();
    },
  );
});

describe('a new password', () => {
  it.each(['twelve chars', ' '.repeat(12), 'ü'.repeat(12), '🔑'.repeat(12), 'x'.repeat(PASSWORD_MAX)])(
    'may be %j',
    (password) => {
      expect(passwordProblem(password)).toBeNull();
      expect(passwordHint(password).enough).toBe(true);
    },
  );

  it.each(['', 'eleven char', '🔑'.repeat(11), 'x'.repeat(PASSWORD_MAX + 1), `${'x'.repeat(12)}\0`])(
    'may not be %j',
    (password) => {
      expect(passwordProblem(password)).not.toBeNull();
    },
  );

  it('is told how far it has come', () => {
    expect(passwordHint('').says).toContain('At least 12');
    expect(passwordHint('🔑🔑🔑').says).toContain('3 so far');
    expect(passwordHint('x'.repeat(20)).says).toContain('20 characters');
    expect(passwordHint('x'.repeat(PASSWORD_MAX + 1))).toMatchObject({ enough: false });
  });
});
