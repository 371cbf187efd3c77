import type { AuditEntry } from '../../lib/api/accounts';

/** Who did it: a person by e-mail, and how, when it was not in the dashboard. */
export function actorName({ kind, email, id }: AuditEntry['actor']): string {
  const name = email ?? id;
  if (kind === 'cli') return name === null ? 'command line' : `${name} by command line`;
  if (kind === 'public') return name ?? 'without an account';
  if (name === null) return kind;
  return kind === 'token' ? `${name} by token` : name;
}

/** To what it was done: the name that the entry holds, else the kind and the id. */
export function targetName({ target, detail }: Pick<AuditEntry, 'target' | 'detail'>): string {
  const named = ['email', 'name'].map((key) => detail[key]).find((name) => typeof name === 'string');
  const name = typeof named === 'string' ? named : target.id;
  return name === null ? target.kind : `${target.kind} ${name}`;
}
