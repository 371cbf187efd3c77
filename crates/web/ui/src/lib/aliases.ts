import type { Alias } from './api/aliases';
import type { WallGroup } from './api/board';
import type { Reason } from './api/suggestions';
import { compared } from './names';
import { grouped } from './time';

/** The longest name, in characters, as the server counts them. */
export const NAME_MAX = 255;

/** What is wrong with a name, if anything. */
export function nameProblem(name: string, which: 'alias' | 'canonical'): string | null {
  const length = [...name.trim()].length;
  if (length === 0) {
    return which === 'alias' ? 'Which name do services report?' : 'Which name does it stand for?';
  }
  return length > NAME_MAX ? `A name has ${String(NAME_MAX)} characters at most; this one has ${grouped(length)}.` : null;
}

/** By the name that they stand for, then by the one that is reported. */
export function byName(aliases: readonly Alias[]): Alias[] {
  const key = ({ canonical_name, alias }: Alias) => `${compared(canonical_name)}\u0000${compared(alias)}`;
  return [...aliases].sort((one, other) => Number(key(one) > key(other)) - Number(key(one) < key(other)));
}

/** Names are the same whatever their case, as the wallboard takes them. */
const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

export function groupOf(groups: readonly WallGroup[], name: string): WallGroup | undefined {
  return groups.find(({ canonical_name }) => same(canonical_name, name));
}

/** How many dependencies go by a name. */
export function countOf(groups: readonly WallGroup[], name: string): number {
  const counts = groupOf(groups, name)?.counts;
  return counts === undefined ? 0 : Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Names that services report and that stand for nothing else, a service neither: the most used first. */
export function unnamed(
  groups: readonly WallGroup[],
  aliases: readonly Alias[],
  services: readonly { readonly nameKey: string }[] = [],
): WallGroup[] {
  const taken = [
    ...aliases.flatMap(({ alias, canonical_name }) => [alias, canonical_name]),
    ...services.map(({ nameKey }) => nameKey),
  ];
  return groups
    .filter(({ canonical_name }) => !taken.some((name) => same(name, canonical_name)))
    .sort((one, other) => countOf([other], other.canonical_name) - countOf([one], one.canonical_name));
}

/** What an alias has changed, in a sentence. */
export function changedText(count: number, { alias, canonical_name }: Pick<Alias, 'alias' | 'canonical_name'>): string {
  if (count <= 0) return `No service reports ${alias} now; whoever does will go by ${canonical_name}`;
  return count === 1
    ? `1 dependency now goes by ${canonical_name}`
    : `${grouped(count)} dependencies now go by ${canonical_name}`;
}

/** Why a thing may be a service, in a few words. */
export function reasonText(reason: Reason): string {
  switch (reason.kind) {
    case 'same_name':
      return 'called the same';
    case 'similar_name':
      return `called alike: ${reason.words.join(', ')}`;
    case 'same_host':
      return `names its host, ${reason.host}`;
  }
}
