import type { Now, NowCause, NowCounts } from './api/now';
import type { PollAnswer } from './api/services';
import type { Answer, Failure } from './api/client';
import { isolated } from './isolate';
import { at, nodeAt, type Route } from './route';
import { statusOf, type Status } from './status';
import { counted, grouped } from './time';
import { waitText } from './wait';

/** A number of the line above every page, and what it leads to; null for what leads nowhere. */
export interface SummaryPart {
  readonly status: Status;
  readonly count: string | null;
  readonly words: string;
  readonly leads: Route | null;
}

/** "2 root causes · 41 affected · 1 204 healthy". */
export function summary({ counts, items }: Pick<Now, 'counts' | 'items'>): SummaryPart[] {
  const { root_causes: roots, affected, healthy, unknown } = counts;
  // What nobody asks can't be well.
  if (counts.services === 0) return [{ status: 'unknown', count: null, words: 'Nothing watched yet', leads: null }];
  const some = (status: Status, count: number, words: string, leads: Route): SummaryPart[] =>
    count === 0 ? [] : [{ status, count: grouped(count), words, leads }];
  const calm: SummaryPart = { status: 'healthy', count: null, words: 'No root cause', leads: null };
  return [
    ...(roots === 0
      ? [calm]
      : some(worstOf(items), roots, roots === 1 ? 'root cause' : 'root causes', rootsAt(counts))),
    ...some('degraded', affected, 'affected', services('is:affected')),
    ...some('healthy', healthy, 'healthy', services('status:healthy')),
    ...some('unknown', unknown, 'unknown', services('status:unknown')),
  ];
}

/** A cause that is not shown may be down: what is not known is not played down. */
function worstOf(causes: Now['items']): Status {
  return causes.length > 0 && causes.every(({ status }) => status === 'degraded') ? 'degraded' : 'down';
}

/** What stands where the cards would, while there is none. */
export function calmText({ healthy, unknown, services: all, inactive }: NowCounts): string {
  const active = all - inactive;
  if (active === 0) return 'Every service is switched off, so nothing is asked.';
  if (unknown > 0 && healthy === 0) return 'Nothing is known yet. The first polls are under way.';
  if (unknown > 0) {
    const not = `${grouped(unknown)} ${unknown === 1 ? 'is' : 'are'} not known`;
    return `Nothing is known to be broken. Of ${counted(active, active, 'service')}, ${not}.`;
  }
  return active === 1 ? 'The one service is healthy.' : `All ${grouped(active)} services are healthy.`;
}

/** As much of a root cause, or of what changed, as names it. */
interface Named {
  readonly nodes: readonly { readonly id: string; readonly name: string }[];
  readonly node_count: number;
}

/** What a root cause is called: a circle by the first of its nodes. */
export function titleOf({ nodes, node_count }: Named): string {
  if (node_count === 1) return nodes[0]?.name ?? '';
  const named = nodes.map(({ name }) => isolated(name));
  const first = named.slice(0, node_count > 3 ? 2 : 3);
  const rest = node_count - first.length;
  return joined(rest > 0 ? [first.join(', '), `${grouped(rest)} more`] : first);
}

/** "a, b and c". */
function joined(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}

/** More causes at once are not listened to. */
const MOST_TOLD = 3;

/** Root causes that are new or worse than before, for those who listen: "PostgreSQL main is down, 11 services hurt". */
export function worsenedText(before: Pick<Now, 'items'>, after: Pick<Now, 'items'>): string | null {
  const known = new Map(before.items.map((cause) => [rowOf(cause), cause]));
  const worse = after.items.filter((cause) => isWorse(known.get(rowOf(cause)), cause));
  return worse.length === 0 ? null : worse.slice(0, MOST_TOLD).map(causeText).join('; ');
}

function isWorse(before: NowCause | undefined, after: NowCause): boolean {
  if (before === undefined || after.affected > before.affected) return true;
  return before.status !== 'down' && after.status === 'down';
}

function causeText(cause: NowCause): string {
  const one = cause.node_count === 1;
  const says = `${one ? isolated(titleOf(cause)) : titleOf(cause)} ${one ? 'is' : 'are'} ${cause.status}`;
  return cause.affected === 0 ? says : `${says}, ${hurtText(cause)}`;
}

/** Who says the opposite of how a root cause is, and of whom it says so: "Storefront finds it healthy." */
export function disputesText({ nodes, node_count, disputes }: Pick<NowCause, 'nodes' | 'node_count' | 'disputes'>): string {
  const own = new Set(nodes.map(({ id }) => id));
  const called = ({ name }: { name: string }, it: string) => (node_count === 1 ? it : isolated(name));
  const heard = disputes
    .filter(({ by }) => !own.has(by.id))
    .map(({ by, of, says }) => ({ who: isolated(by.name), what: `${called(of, 'it')} ${says}` }));
  const others = [...new Set(heard.map(({ what }) => what))].map((what) => {
    const names = heard.filter((one) => one.what === what).map(({ who }) => who);
    return `${joined(names)} ${names.length === 1 ? 'finds' : 'find'} ${what}.`;
  });
  const said = disputes.filter(({ by }) => own.has(by.id));
  const itself = said.map(
    ({ by, of, says }) => `${called(by, 'It')} finds ${isolated(of.name)} ${says}, which is ${of.status}.`,
  );
  return [...others, ...itself].join(' ');
}

/** What names a root cause in the address. */
export function rowOf({ nodes }: Pick<NowCause, 'nodes'>): string {
  return nodes[0]?.id ?? '';
}

/** Where a root cause is shown in full: the page of its service, or of the thing that it is. */
export function opens({ nodes }: Pick<Named, 'nodes'>): Route | null {
  const [first] = nodes;
  return first === undefined ? null : nodeAt(first.id);
}

/** Whom something hurts, as far as it is told. */
export type Hurting = Pick<NowCause, 'hurts' | 'affected' | 'hurt'>;

/** "2 services hurt", or that nobody is; of what is well, whom it would hurt. */
export function hurtText({ hurts, affected }: Pick<NowCause, 'hurts' | 'affected'>, fails = true): string {
  if (hurts === 0) return 'Nobody leans on it';
  if (!fails && affected === 0) return 'Whom it would hurt';
  return affected === 0 ? 'Nobody is hurt yet' : `${counted(affected, affected, 'service')} hurt`;
}

/** "5 more lean on it": those who are not hurt, or not known to be; empty when there is none. */
export function leaningText({ hurts, affected }: Pick<NowCause, 'hurts' | 'affected'>): string {
  const rest = hurts - affected;
  if (rest === 0) return '';
  const who = affected === 0 ? counted(rest, rest, 'service') : `${grouped(rest)} more`;
  return `${who} ${rest === 1 ? 'leans' : 'lean'} on it`;
}

/** "hurts 2 of 7 services", in the middle of a sentence. */
export function hurtsText({ hurts, affected }: Pick<NowCause, 'hurts' | 'affected'>): string {
  if (hurts === 0) return 'hurts nobody else';
  const all = counted(hurts, hurts, 'service');
  if (affected === 0) return `hurts nobody yet, ${all} ${hurts === 1 ? 'leans' : 'lean'} on it`;
  return affected === hurts ? `hurts ${all}` : `hurts ${grouped(affected)} of ${all}`;
}

/** A service of the tree of those who are hurt. */
export interface Branch {
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  /** 0 for who leans on the cause itself. */
  readonly depth: number;
}

/** The services that are hurt, each below the one through which it is. Who is well is not among them. */
export function branches({ hurt: all }: Pick<NowCause, 'hurt'>): Branch[] {
  const hurt = all.filter(({ affected }) => affected);
  const known = new Set(hurt.map(({ id }) => id));
  const below = (via: string | null, depth: number): Branch[] =>
    hurt
      .filter((one) => (via === null ? !known.has(one.via) : one.via === via))
      .flatMap(({ id, name, status }) => [
        { id, name, status: statusOf(status), depth },
        ...below(id, depth + 1),
      ]);
  return below(null, 0);
}

/** What polls of several services brought, in one sentence. */
export function polledText(answers: readonly Answer<PollAnswer>[]): string {
  const done = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const refused = answers.flatMap((answer) => (answer.ok ? [] : [answer.failure]));
  const failed = done.filter(({ success }) => !success);
  const changed = done.flatMap(({ status_changes }) =>
    status_changes.map(({ dependency_name, current }) => `${isolated(dependency_name)} is ${current}`),
  );
  const parts = [
    `${grouped(done.length - failed.length)} of ${counted(answers.length, answers.length, 'service')} answered`,
    ...(failed[0]?.error ? [failed[0].error.message] : []),
    ...(refused[0] === undefined ? [] : [`${grouped(refused.length)} could not be polled now: ${whyNot(refused[0])}`]),
    changed.length === 0 ? 'nothing changed' : [...new Set(changed)].slice(0, 5).join(', '),
  ];
  return `${parts.join('; ')}.`;
}

/** Why somebody could not be polled, and when to try again where that is known. */
function whyNot({ title, retryAfter }: Failure): string {
  const why = title.charAt(0).toLowerCase() + title.slice(1);
  return retryAfter === null ? why : `${why}, try again in ${waitText(retryAfter)}`;
}

/** How many root causes are not listed. */
export function unlisted({ counts, items }: Now): number {
  return Math.max(counts.root_causes - items.length, 0);
}

/** The list of services can show root causes only where all of them are services. */
function rootsAt({ root_causes, root_services }: NowCounts): Route {
  return root_causes === root_services ? services('is:root') : at('now');
}

function services(filter: string): Route {
  return { ...at('services'), filter };
}
