import { describe, expect, it } from 'vitest';
import { documentOf, type Quote } from './document';
import { madeUpText, unfolded } from './quotes';

/** Quotes by a letter for each: `y` was found, `n` was not. */
const quotes = (found: string): Quote[] =>
  [...found].map((letter, at) => ({ quote: String(at), timecode: null, found: letter === 'y' }));

describe('quotes beside a claim', () => {
  it.each([
    ['yyyy', false, '01'],
    ['yyyn', false, '013'],
    ['nyyy', false, '01'],
    ['yynyn', false, '0124'],
    ['yyy', true, ''],
    ['yny', true, '1'],
    ['', false, ''],
  ])('%s folded (%s) shows %s', (found, folds, shown) => {
    expect(unfolded(quotes(found), folds).map(({ quote }) => quote).join('')).toBe(shown);
  });
});

describe('the line at the head', () => {
  const claim = () => ({ evidence: [{ quote: 'a' }, { quote: 'b' }] });
  const report = { timeline: [claim()], impact: claim(), root_causes: [claim()], actions: [claim()] };
  const line = (notFound: readonly string[], checked = true) => madeUpText(documentOf(report, notFound), checked);

  it('is none where every quote was found', () => {
    expect(line([])).toBe('');
  });
  it('counts those that were not, wherever they stand', () => {
    const two = line(['/timeline/0/evidence/1', '/impact/evidence/0']);
    expect(two).toMatch(/^2 of 8 quotes were not found in the call .* They are marked: /);
    expect(line(['/actions/0/evidence/0'])).toMatch(/^1 of 8 quotes was not found in the call .* It is marked: /);
  });
  it('says that nobody looked', () => {
    expect(line([], false)).toMatch(/not looked at/);
  });
});
