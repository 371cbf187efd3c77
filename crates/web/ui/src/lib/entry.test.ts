import { describe, expect, it } from 'vitest';
import { isSamePerson, linkError, loginAddress, loginError, loginReason, NEXT_LIMIT, safeNext, tokenOf, TOKEN_LIMIT, withFragment, withoutError } from './entry';
import { PATHS } from './route';

describe('the same person', () => {
  const ana = { id: '1', email: 'ana@example.com' };

  it.each([
    [{ id: '1', email: 'ana@example.com' }, true],
    [{ id: '1', email: 'ana@example.org' }, true],
    [{ id: '2', email: ' Ana@Example.com' }, true],
    [{ id: '2', email: 'bo@example.com' }, false],
  ])('as ana is %o: %s', (other, same) => {
    expect(isSamePerson(ana, other)).toBe(same);
  });
});

describe('where to go after signing in', () => {
  it.each(['/', '/system', '/system?filter=a&row=b', '/admin/audit?actor=ana%40example.com', '/a//b'])(
    'may be %s',
    (next) => {
      expect(safeNext(next)).toBe(next);
    },
  );

  it.each([
    null,
    undefined,
    '',
    'system',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\/evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/\n/evil.example',
    '/sys\u0000tem',
    ' /system',
    `/${'a'.repeat(NEXT_LIMIT)}`,
  ])('may not be %j', (next) => {
    expect(safeNext(next)).toBeNull();
  });

  it('stays on this site, whatever is made of it', () => {
    const tries = ['//e.x', '/\\e.x', '/\t/e.x', '/%2f/e.x', '/.//e.x', '/@e.x', '/:80'];
    for (const next of tries.map(safeNext)) {
      if (next === null) continue;
      expect(new URL(next, 'http://localhost:7373').origin).toBe('http://localhost:7373');
    }
  });

  it('does not lead back to where one signs in', () => {
    expect(safeNext('/login')).toBeNull();
    expect(safeNext('/login?next=/login')).toBeNull();
    expect(safeNext('/logins')).toBe('/logins');
  });
});

describe('the address to sign in', () => {
  it('leads back to where one was', () => {
    expect(loginAddress('/', '')).toBe('/login');
    const address = new URL(loginAddress('/system', '?filter=a b&row=c'), 'http://localhost');
    expect(address.pathname).toBe('/login');
    expect(address.searchParams.get('next')).toBe('/system?filter=a b&row=c');
  });

  it('knows that a session ended', () => {
    expect(loginAddress('/', '', true)).toBe('/login?ended=yes');
    expect(loginAddress('/system', '', true)).toBe('/login?next=%2Fsystem&ended=yes');
  });

  it.each([
    [null, false, null],
    [null, true, 'Your session has ended. Sign in to go on.'],
    ['/services', true, 'Your session has ended. Sign in to go on.'],
    ['/services', false, 'Sign in to see the page that you asked for.'],
    [PATHS.shared, false, 'A report was shared with you. Sign in to read it.'],
  ])('says why one is there: %s, ended %s', (next, ended, text) => {
    expect(loginReason(next, ended)).toBe(text);
  });

  it('forgets what it cannot take along', () => {
    expect(loginAddress('/login', '?next=/x')).toBe('/login');
    expect(loginAddress('//evil.example', '')).toBe('/login');
  });
});

describe('the token of a link', () => {
  it('is what follows the sign', () => {
    expect(tokenOf('#abc-DEF_123')).toBe('abc-DEF_123');
    expect(tokenOf('#abc ')).toBe('abc');
  });

  it.each(['', '#', '#a/b', '#a=b', '#<script>', `#${'a'.repeat(TOKEN_LIMIT + 1)}`])(
    'is not in %j',
    (hash) => {
      expect(tokenOf(hash)).toBeNull();
    },
  );
});

describe('the token of a page that asked for a session', () => {
  it('comes back to that page alone', () => {
    expect(withFragment('/shared', '/shared#abc-1')).toBe('/shared#abc-1');
    expect(withFragment('/shared?view=quotes', '/shared#abc-1')).toBe('/shared?view=quotes#abc-1');
    for (const left of [null, '', '/other#abc', '/shared', '/shared#', '/shared#a b', '#abc']) {
      expect(withFragment('/shared', left)).toBe('/shared');
    }
  });
});

describe('a link that did not sign in', () => {
  it('is told with what to do instead', () => {
    expect(linkError('invalid_or_expired_token')).toContain('used already');
    expect(linkError('busy')).toContain('did not work');
    expect(linkError(null)).toContain('e-mail and password');
  });
});

describe('a refusal in the address', () => {
  it('is told in words, also when it is not known', () => {
    expect(loginError(null)).toBeNull();
    expect(loginError('invalid_credentials')).toContain('wrong');
    expect(loginError('user_disabled')).toContain('disabled');
    for (const strange of ['', 'melted', 'toString', '__proto__']) {
      expect(loginError(strange)).toBe('Signing in did not work. Try again.');
    }
  });

  it('is taken out, and nothing else', () => {
    expect(withoutError('/login', '?error=busy')).toBe('/login');
    expect(withoutError('/login', '?error=busy&next=%2Fsystem')).toBe('/login?next=%2Fsystem');
    expect(withoutError('/login', '')).toBe('/login');
  });
});
