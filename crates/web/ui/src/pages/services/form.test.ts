import { describe, expect, it } from 'vitest';
import type { Service } from '../../lib/api/services';
import {
  changeOf,
  draftOf,
  endpointProblem,
  mappingProblem,
  newDraft,
  newService,
  problemsOf,
  refusedField,
  TEMPLATES,
  type Draft,
} from './form';

const filled = (more: Partial<Draft> = {}): Draft => ({
  ...newDraft(),
  name: ' Orders ',
  endpoint: ' https://orders.example.org/health ',
  ...more,
});

const SERVICE = {
  name: 'Orders',
  team: 'Shop',
  health_endpoint: 'https://orders.example.org/health',
  format: 'schema',
  schema_config: { root: '$' } as unknown as Service['schema_config'],
  poll_interval_ms: 7_500,
  timeout_ms: 500,
  header_names: ['Authorization', 'X-Team'],
  is_active: true,
} as Service;

const edited = (change: (draft: Draft) => void) => {
  const draft = draftOf(SERVICE);
  change(draft);
  return changeOf(draft, draftOf(SERVICE));
};

describe('a new service', () => {
  it('is sent without what was left out, in the units of the API', () => {
    expect(newService(filled())).toEqual({
      name: 'Orders',
      health_endpoint: 'https://orders.example.org/health',
      format: 'proactive-deps',
      poll_interval_ms: 30_000,
      timeout_ms: 10_000,
      is_active: true,
    });
  });

  it('takes its mapping along only where it is used', () => {
    const mapping = '{"root": "$", "fields": {}}';
    expect(newService(filled({ mapping }))).not.toHaveProperty('schema_config');
    expect(newService(filled({ mapping, format: 'schema' })).schema_config).toEqual({ root: '$', fields: {} });
  });

  it('has its headers by name, without empty rows', () => {
    const row = { kept: false, removed: false };
    const headers = [
      { key: 1, name: ' X-Key ', value: ' s ', ...row },
      { key: 2, name: '', value: '', ...row },
    ];
    expect(newService(filled({ headers })).headers).toEqual({ 'X-Key': ' s ' });
  });
});

it('shows a mapping in the order in which people write it', () => {
  const schema_config = { fields: { type: 'a', healthy: { equals: 'b', field: 'c' }, name: 'd' }, root: 'e' };
  const { mapping } = draftOf({ ...SERVICE, schema_config: schema_config as unknown as Service['schema_config'] });
  expect(mapping.match(/\w+(?=":)/g)).toEqual(['root', 'fields', 'name', 'healthy', 'field', 'equals', 'type']);
});

describe('a change', () => {
  it('of nothing is nothing', () => {
    expect(edited(() => undefined)).toEqual({});
  });

  it('holds what was changed alone', () => {
    expect(edited((draft) => (draft.interval = '15'))).toEqual({ poll_interval_ms: 15_000 });
    expect(edited((draft) => (draft.timeout = '0.25'))).toEqual({ timeout_ms: 250 });
    expect(edited((draft) => (draft.name = 'Orders 2'))).toEqual({ name: 'Orders 2' });
    expect(edited((draft) => (draft.active = false))).toEqual({ is_active: false });
  });

  it('takes a team away by null', () => {
    expect(edited((draft) => (draft.team = '  '))).toEqual({ team: null });
  });

  it('of the format away from the mapping leaves that to the server', () => {
    expect(edited((draft) => (draft.format = 'status'))).toEqual({ format: 'status' });
  });

  it('of the mapping sends the whole mapping', () => {
    expect(edited((draft) => (draft.mapping = '{"root": "a"}'))).toEqual({ schema_config: { root: 'a' } });
  });

  it('of headers sets, replaces and takes away by name, and leaves the others', () => {
    const change = edited((draft) => {
      const [first, second] = draft.headers;
      if (first) first.value = 'Bearer new';
      if (second) second.removed = true;
      draft.headers.push({ key: 9, name: 'X-New', value: '1', kept: false, removed: false });
    });
    expect(change).toEqual({ headers: { Authorization: 'Bearer new', 'X-Team': null, 'X-New': '1' } });
  });
});

describe('what is wrong', () => {
  it('is nothing with a filled form and with every template', () => {
    expect(problemsOf(filled())).toEqual({});
    for (const { mapping } of TEMPLATES) {
      expect(problemsOf(filled({ format: 'schema', mapping }))).toEqual({});
    }
  });

  it('is told at its field', () => {
    expect(Object.keys(problemsOf(newDraft()))).toEqual(['name', 'endpoint']);
    expect(problemsOf(filled({ interval: '4' })).interval).toContain('5 to 3600');
    expect(problemsOf(filled({ timeout: '31' })).timeout).toContain('0.1 to 30');
    expect(problemsOf(filled({ interval: 'soon' }))).toHaveProperty('interval');
    expect(problemsOf(filled({ interval: '' }))).toHaveProperty('interval');
  });

  it('with a mapping is told only where it is used', () => {
    expect(problemsOf(filled({ mapping: '{' }))).toEqual({});
    expect(problemsOf(filled({ mapping: '{', format: 'schema' }))).toHaveProperty('mapping');
  });

  it('with a header that lacks its name or its value', () => {
    const row = { key: 1, kept: false, removed: false };
    expect(problemsOf(filled({ headers: [{ ...row, name: 'X', value: '' }] }))).toHaveProperty('headers');
    expect(problemsOf(filled({ headers: [{ ...row, name: '', value: 's' }] }))).toHaveProperty('headers');
    expect(problemsOf(filled({ headers: [{ ...row, name: '', value: '' }] }))).toEqual({});
    expect(problemsOf(filled({ headers: [{ ...row, kept: true, name: 'X', value: '' }] }))).toEqual({});
  });

  it.each([
    ['', false],
    ['orders', false],
    ['ftp://orders', false],
    ['http://', false],
    ['http://[', false],
    ['http://orders', true],
    ['https://[::1]:8080/health?full=1', true],
  ])('with the endpoint %s: fine is %s', (text, fine) => {
    expect(endpointProblem(text) === null).toBe(fine);
  });

  it.each(['', '[]', '7', 'null', '{"root"'])('with the mapping %s', (text) => {
    expect(mappingProblem(text)).not.toBeNull();
  });

  it('is found by the word of the server', () => {
    expect(refusedField({ code: 'name_taken' })).toBe('name');
    expect(refusedField({ code: 'blocked_address' })).toBe('endpoint');
    expect(refusedField({ code: 'too_many_services' })).toBeNull();
    expect(refusedField({ code: null })).toBeNull();
  });
});
