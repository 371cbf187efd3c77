import type { Quote, ReportDocument } from './document';

/** More than these are read only by who wants to know. */
export const AT_ONCE = 2;

/** Those that stand beside a claim while the rest is folded: what nobody said is never hidden. */
export function unfolded(evidence: readonly Quote[], folds: boolean): readonly Quote[] {
  const first = folds ? 0 : AT_ONCE;
  return evidence.filter(({ found }, at) => at < first || !found);
}

/** How many quotes of a report nobody said, in a line; empty when all of them were found. */
export function madeUpText(told: ReportDocument, checked: boolean): string {
  if (!checked) return 'Whether its quotes were said was not looked at when this report was made.';
  const all = quotesOf(told);
  const count = all.filter(({ found }) => !found).length;
  if (count === 0) return '';
  const [were, are] = count === 1 ? ['was', 'It is marked'] : ['were', 'They are marked'];
  return `${String(count)} of ${String(all.length)} quotes ${were} not found in the call or in what was recorded, or not at the time given. ${are}: check the claim yourself.`;
}

function quotesOf(told: ReportDocument): Quote[] {
  const { impact, timeline, rootCauses, factors, wentWell, actions, affected, questions } = told;
  const claims = [[impact], timeline, rootCauses, factors, wentWell, actions, affected, questions];
  return claims.flat().flatMap(({ evidence }) => evidence);
}
