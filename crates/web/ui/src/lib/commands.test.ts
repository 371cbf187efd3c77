import { describe, expect, it } from 'vitest';
import { choicesFor } from './commands';

describe('the palette', () => {
  it('shows what is for admins to them alone', () => {
    const titles = (admin: boolean) => choicesFor({ edit: true, admin }).map(({ title }) => title);
    expect(titles(true)).toContain('Go to Audit log');
    expect(titles(false)).not.toContain('Go to Audit log');
    expect(titles(false)).toContain('Go to Account');
    expect(titles(false)).toContain('Sign out');
  });

  it('offers to add a service to those who may', () => {
    const titles = (edit: boolean) => choicesFor({ edit, admin: false }).map(({ title }) => title);
    expect(titles(true)).toContain('Add a service');
    expect(titles(false)).not.toContain('Add a service');
  });

  it('has no two entries of one name', () => {
    const titles = choicesFor({ edit: true, admin: true }).map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});
