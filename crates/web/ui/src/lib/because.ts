import { components } from './graph/circles';

/** Something that turned by itself, or a circle that did so together, and who turned because of it. */
export interface Turned {
  readonly roots: readonly string[];
  readonly followers: readonly string[];
}

/**
 * Of those that turned together, which did so by themselves: who leans on no other of them, as in the
 * graph. Whoever has several causes is told with the first of them. The one with most followers comes first.
 */
export function because(keys: readonly string[], leansOn: (key: string) => Iterable<string>): Turned[] {
  const places = new Map(keys.map((key, place) => [key, place]));
  const uses = keys.map((key) => [...new Set(leansOn(key))].flatMap((other) => places.get(other) ?? []));
  const { members, of } = components(uses, () => true);
  const named = (place: number) => keys[place] ?? '';
  /** What a component leans on has a smaller number, so its cause is known by then. */
  const rootOf: number[] = [];
  const followers = new Map<number, number[]>();
  members.forEach((own, component) => {
    const next = own.flatMap((place) => uses[place] ?? []).map((place) => of[place] ?? component);
    const others = next.filter((other) => other !== component).map((other) => rootOf[other] ?? other);
    const root = others.length === 0 ? component : Math.min(...others);
    rootOf.push(root);
    if (root === component) followers.set(root, []);
    else followers.get(root)?.push(...own);
  });
  return [...followers]
    .map(([root, found]) => ({
      first: Math.min(...(members[root] ?? [])),
      roots: (members[root] ?? []).map(named),
      followers: found.sort((one, other) => one - other).map(named),
    }))
    .sort((one, other) => other.followers.length - one.followers.length || one.first - other.first)
    .map(({ roots, followers: found }) => ({ roots, followers: found }));
}
