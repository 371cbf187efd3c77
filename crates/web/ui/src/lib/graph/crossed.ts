import type { FailingJourney } from '../api/journeys';
import type { GraphView } from '../api/graph';
import { isolated } from '../isolate';
import { touchedName } from '../journeys/runs';
import { grouped } from '../time';
import type { Drawn } from './groups';

/** The names of the failing journeys that cross what is drawn, by its id. */
export type Crossed = ReadonlyMap<string, ReadonlySet<string>>;

/** A folded team is crossed where one of its services is. */
export function crossedBy(view: GraphView, drawn: Drawn, journeys: readonly FailingJourney[]): Crossed {
  const crossed = new Map<string, Set<string>>();
  if (journeys.length === 0) return crossed;
  const touching = byName(journeys);
  view.nodes.forEach(({ name }, place) => {
    const id = drawn.nodes[drawn.of[place] ?? -1]?.id;
    if (id === undefined) return;
    for (const journey of touching.get(touchedName(name)) ?? []) {
      crossed.set(id, (crossed.get(id) ?? new Set()).add(journey));
    }
  });
  return crossed;
}

/** "journey buy something fails", for those who listen; nothing where all is well. */
export function crossedText(names: ReadonlySet<string> | undefined): string {
  const [first] = names ?? [];
  if (names === undefined || first === undefined) return '';
  return names.size === 1 ? `, journey ${isolated(first)} fails` : `, ${grouped(names.size)} journeys fail`;
}

function byName(journeys: readonly FailingJourney[]): Map<string, string[]> {
  const touching = new Map<string, string[]>();
  for (const { name, touches } of journeys) {
    for (const touched of touches.map(touchedName)) touching.set(touched, [...(touching.get(touched) ?? []), name]);
  }
  return touching;
}
