import type { GraphView } from '../../lib/api/graph';
import { emphasis } from '../../lib/graph/emphasis';
import { fits, foldsOf, foldsText, isFolded, toggled, type Folds } from '../../lib/graph/folds';
import { fold, MANY_NODES, NO_TEAM, teamId, teamsOf, type DrawnNode } from '../../lib/graph/groups';
import { layout, type Point } from '../../lib/graph/layout';
import { listsOf, type Ends, type Lists } from '../../lib/graph/lists';
import { rowsOf } from '../../lib/graph/part';
import { VALUE_LIMIT } from '../../lib/route';
import { reported } from '../../state/leaning.svelte';
import { router } from '../../state/router.svelte';
import { voice } from '../../state/voice.svelte';
import { setWhere } from './address';
import { areEqual } from './layer';

/** A view as it is drawn: teams folded, nodes in their places, one of them selected. */
export class Picture {
  readonly #view: () => GraphView;
  readonly #teamOf: () => (service: string) => string;
  readonly view = $derived.by(() => this.#view());
  readonly teams = $derived.by(() => teamsOf(this.view, this.#teamOf()));
  readonly isLarge = $derived.by(() => this.view.nodes.length > MANY_NODES);
  readonly folds = $derived(foldsOf(router.route.where.teams, this.isLarge));
  readonly drawn = $derived.by(() => fold(this.view, this.#teamOf(), (team) => isFolded(this.folds, team)));
  readonly isWhole = $derived(
    this.drawn.nodes.length === this.view.nodes.length && router.route.where.service === undefined,
  );
  #points: readonly Point[] = [];
  /** The same object while nobody moves: what follows from it stands still then too. */
  readonly points = $derived.by(() => {
    const points = layout(this.drawn.nodes, this.isWhole);
    if (!areEqual(points, this.#points, (one, other) => one.x === other.x && one.y === other.y)) this.#points = points;
    return this.#points;
  });
  #edges: { readonly count: number; readonly ends: readonly Ends[]; readonly lists: Lists } | null = null;
  /** The same while nobody leans on anything else. */
  readonly lists = $derived.by(() => {
    const { nodes, edges } = this.drawn;
    const isSame = this.#edges?.count === nodes.length
      && areEqual(edges, this.#edges.ends, (one, other) => one.from === other.from && one.to === other.to);
    if (!isSame || this.#edges === null) {
      this.#edges = { count: nodes.length, ends: edges, lists: listsOf(nodes.length, edges) };
    }
    return this.#edges.lists;
  });
  readonly #whole = $derived.by(() => listsOf(this.view.nodes.length, this.view.edges));
  /** The nodes that the filter leaves, in the order of the list. */
  readonly rows = $derived.by(() => rowsOf(this.view, router.route.filter, reported.names));
  readonly #matches = $derived.by(() => {
    if (router.route.filter === '') return null;
    const matches = this.drawn.nodes.map(() => false);
    const places = this.view.nodes.map(({ id }, place) => [id, place] as const);
    const kept = Object.fromEntries(this.rows.map(({ id }) => [id, true]));
    for (const [id, place] of places) {
      const drawn = this.drawn.of[place] ?? -1;
      if (kept[id] === true && drawn !== -1) matches[drawn] = true;
    }
    return matches;
  });
  /** The node of the view that the address names. An address is cut where a name is very long. */
  readonly node = $derived.by(() => {
    const { row } = router.route;
    if (row === null) return null;
    const isIt = (id: string) => id === row || (row.length === VALUE_LIMIT && id.startsWith(row));
    return this.view.nodes.find(({ id }) => isIt(id)) ?? null;
  });
  readonly team = $derived(this.teams.find(({ name }) => teamId(name) === router.route.row) ?? null);
  /** The drawn node that stands for it. */
  readonly selected = $derived.by(() => {
    if (this.node !== null) return this.#place(this.drawn.of[this.view.nodes.indexOf(this.node)]);
    const { row } = router.route;
    return row === null ? null : this.#place(this.drawn.nodes.findIndex(({ id }) => id === row));
  });
  /** The drawn node of the root cause that hurts most. */
  readonly start = $derived.by(() => {
    const first = this.view.root_causes[0]?.nodes[0]?.id;
    return first === undefined ? null : this.#place(this.drawn.of[this.view.nodes.findIndex(({ id }) => id === first)]);
  });
  readonly emphasis = $derived(emphasis(this.lists, this.selected, this.#matches));

  constructor(view: () => GraphView, teamOf: () => (service: string) => string) {
    this.#view = view;
    this.#teamOf = teamOf;
  }

  get whole() {
    return this.#whole;
  }

  toggle(team: string): void {
    this.#fold(toggled(this.folds, team));
  }

  foldAll(folded: boolean): void {
    this.#fold(foldsOf(folded ? '*' : ',', this.isLarge));
  }

  unfold({ id }: Pick<DrawnNode, 'id'>): void {
    const team = this.teams.find(({ name }) => teamId(name) === id)?.name ?? NO_TEAM;
    router.change({ row: null, inspector: false });
    if (isFolded(this.folds, team)) this.toggle(team);
  }

  #fold(folds: Folds): void {
    const teams = foldsText(folds, this.isLarge);
    if (fits(teams)) setWhere({ teams });
    else voice.show('The address of this page holds no more teams: fold all or unfold all first');
  }

  #place(place: number | undefined): number | null {
    return place === undefined || place === -1 ? null : place;
  }
}
