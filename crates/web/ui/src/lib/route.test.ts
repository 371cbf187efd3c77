import { describe, expect, it } from 'vitest';
import { at, format, isAdmin, isGraph, isNow, isPublic, isReports, isServices, movedTo, nodeAt, parse, PATHS, thingOf, VALUE_LIMIT, type Place } from './route';

describe('route', () => {
  it.each([
    ['/', 'now'],
    ['', 'now'],
    ['/system', 'system'],
    ['/system/', 'system'],
    ['/system/instances', 'instances'],
    ['/System', 'missing'],
    ['/nowhere', 'missing'],
    ['/system/deeper', 'missing'],
    ['/activity', 'activity'],
    ['/graph', 'graph'],
    ['/graph/thing', 'thing'],
    ['/graph/other', 'missing'],
    ['/services', 'services'],
    ['/services/aliases', 'aliases'],
    ['/services/new', 'service-new'],
    ['/services/0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6d', 'service'],
    ['/services/0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6d/', 'service'],
    ['/services/0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6d/edit', 'service-edit'],
    ['/services/0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6d/other', 'missing'],
    ['/services/:id', 'missing'],
    ['/services/../etc', 'missing'],
    ['/reports', 'reports'],
    ['/reports/0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6d', 'report'],
    ['/reports/new', 'missing'],
    ['/shared', 'shared'],
    ['/account', 'account'],
    ['/admin', 'users'],
    ['/jobs', 'jobs'],
    ['/settings/', 'settings'],
    ['/admin/users', 'users'],
    ['/admin/invites/', 'invites'],
    ['/admin/access-requests', 'requests'],
    ['/admin/jobs', 'jobs'],
    ['/admin/settings', 'settings'],
    ['/admin/audit', 'audit'],
    ['/admin/secrets', 'missing'],
    ['/login', 'login'],
    ['/setup', 'setup'],
    ['/invite', 'invite'],
    ['/request-access', 'request-access'],
  ])('reads the page of %s', (path, page) => {
    expect(parse(path, '').page).toBe(page);
  });

  it('brings back every state it wrote', () => {
    const states = [
      at('now'),
      at('now', { board: 'on' }),
      { ...at('activity', { status: 'down', kind: 'dependency', target: '0193a7c1' }), filter: 'db' },
      at('thing', { node: 'external:orders & co' }),
      at('system'),
      { ...at('system'), filter: 'a b&c=ü/?#' },
      { ...at('system'), row: 'database' },
      { ...at('system'), filter: 'data', row: 'data base', inspector: true },
      { ...at('requests', { status: 'new' }), filter: 'ana', row: '7', inspector: true },
      { ...at('services', { status: 'down', team: 'Shop & Co', sort: '-name' }), filter: 'pay' },
      { ...at('service', { id: '0193a7c1-8f0e', range: '7d' }), row: '01', inspector: true },
      at('service-edit', { id: '0193a7c1-8f0e' }),
      at('reports', { from: '2026-11-15T20:00:00.000Z', to: '2026-11-15T21:00:00.000Z' }),
      at('report', { id: '0193a7c1-8f0e', view: 'all' }),
      at('jobs', { status: 'failed', kind: 'mail.send' }),
      at('audit', { action: 'user.update', actor: 'ana+1@example.com', target: 'a b' }),
    ];
    for (const state of states) {
      const { pathname, search } = new URL(format(state) ?? '', 'http://localhost');
      expect(parse(pathname, search)).toEqual(state);
    }
  });

  it('reads the wallboard however it is written', () => {
    expect(parse('/', '?board').where).toEqual({ board: 'on' });
    expect(parse('/activity', '?board').where).toEqual({});
  });

  it('writes nothing that is not needed', () => {
    expect(format(at('system'))).toBe('/system');
    expect(format({ ...at('system'), inspector: true })).toBe('/system');
  });

  it('takes along only what the page asks the server for', () => {
    expect(parse('/admin/users', '?status=new&actor=ana').where).toEqual({});
    expect(parse('/admin/access-requests', '?status=new&actor=ana').where).toEqual({
      status: 'new',
    });
    expect(format(at('users', { status: 'new' }))).toBe('/admin/users');
    expect(format(at('audit', { actor: '' }))).toBe('/admin/audit');
  });

  it('has room for every e-mail address', () => {
    const actor = `${'a'.repeat(242)}@example.com`;
    expect(parse('/admin/audit', `?actor=${actor}`).where.actor).toBe(actor);
  });

  it('knows which pages need no session and which need an admin', () => {
    const all = Object.keys(PATHS) as Place[];
    expect(all.filter(isPublic)).toEqual(['login', 'setup', 'invite', 'request-access']);
    expect(all.filter(isAdmin)).toEqual(['users', 'invites', 'requests', 'jobs', 'settings', 'audit']);
    expect(all.filter(isServices)).toEqual(['services', 'aliases', 'service-new', 'service', 'service-edit']);
    expect(all.filter(isReports)).toEqual(['reports', 'report', 'shared']);
    expect(all.filter(isNow)).toEqual(['now', 'activity']);
    expect(all.filter(isGraph)).toEqual(['graph', 'thing']);
    expect(isPublic('missing')).toBe(false);
  });

  it('opens no inspector without a row', () => {
    expect(parse('/system', '?inspector=open').inspector).toBe(false);
  });

  it('cuts what is too long and drops what it does not know', () => {
    const route = parse('/system', `?filter=${'x'.repeat(5_000)}&evil=1`);
    expect(route.filter).toHaveLength(VALUE_LIMIT);
    expect(format(route)).not.toContain('evil');
  });

  it.each([
    ['/activity', '?status=bogus&kind=bogus&target=nope', {}],
    ['/activity', '?status=toString&kind=toString', {}],
    ['/activity', '?status=bogus&kind=service', { kind: 'service' }],
    ['/activity', '?status=skipped&target=0193a7c1-8f0e', { status: 'skipped', target: '0193a7c1-8f0e' }],
    ['/graph', '?depth=999&service=nope&range=6h', { range: '6h' }],
    ['/graph', '?depth=-1', {}],
    ['/graph/thing', '?node=0193a7c1', {}],
    ['/graph', '?depth=21', {}],
    ['/graph', '?depth=20&service=0193a7c1-8f0e', { depth: '20', service: '0193a7c1-8f0e' }],
    ['/admin/audit', '?target=nope', { target: 'nope' }],
  ])('leaves out what the server would refuse: %s%s', (path, search, where) => {
    expect(parse(path, search).where).toEqual(where);
  });

  it('leads to a node wherever it is shown in full', () => {
    expect(format(nodeAt('0193a7c1'))).toBe('/services/0193a7c1');
    expect(format(nodeAt(thingOf(' Orders DB ')))).toBe('/graph/thing?node=external%3Aorders+db');
  });

  it.each([
    ['/jobs', '?status=failed', '/admin/jobs?status=failed'],
    ['/settings/', '', '/admin/settings'],
    ['/admin', '', '/admin/users'],
    ['/admin/jobs', '', null],
    ['/', '?board', null],
  ])('tells where %s%s has moved', (path, search, expected) => {
    expect(movedTo(path, search)).toBe(expected);
  });

  it('has no address for a page that does not exist', () => {
    expect(format(at('missing'))).toBeNull();
  });
});
