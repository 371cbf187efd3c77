import { describe, expect, it } from 'vitest';
import type { FailingJourney } from '../api/journeys';
import { isolated } from '../isolate';
import { crossedBy, crossedText } from './crossed';
import { fold } from './groups';
import { node, thing, view } from './sample';

const GRAPH = view([node('Checkout'), node('Payments'), node('Search'), thing('postgres')]);
const teamOf = (service: string) => (service === 'Search' ? 'find' : 'pay');

function failing(name: string, touches: string[]): FailingJourney {
  return { id: name, name, touches, message: null, run_id: null, since: '2026-11-15T21:00:00.000Z' };
}

function crossed(journeys: FailingJourney[], folded: string[] = []) {
  const found = crossedBy(GRAPH, fold(GRAPH, teamOf, (team) => folded.includes(team)), journeys);
  return [...found].map(([id, names]) => [id, [...names]]);
}

describe('what failing journeys cross', () => {
  it('is every node that one names, in any case, a thing too', () => {
    expect(crossed([failing('buy', [' checkout', 'POSTGRES', 'gone']), failing('pay', ['Checkout'])])).toEqual([
      ['Checkout', ['buy', 'pay']],
      ['external:postgres', ['buy']],
    ]);
    expect(crossed([])).toEqual([]);
  });

  it('is a folded team where one of its services is crossed, once for each journey', () => {
    expect(crossed([failing('buy', ['Checkout', 'Payments'])], ['pay'])).toEqual([['team:pay', ['buy']]]);
  });

  it('is told', () => {
    expect(crossedText(undefined)).toBe('');
    expect(crossedText(new Set(['buy']))).toBe(`, journey ${isolated('buy')} fails`);
    expect(crossedText(new Set(['buy', 'pay']))).toBe(', 2 journeys fail');
  });
});
