import { expect, it } from 'vitest';
import { besideText, calmText } from './coverage';
import type { Recorded } from './document';

const WINDOW = { from: '2026-11-15T20:00:00Z', to: '2026-11-15T22:00:00Z' };
const recorded = (covered: Recorded['covered'], entries: Recorded['entries'] = []): Recorded => ({
  ...WINDOW,
  covered,
  entries,
});
const PART = { from: '2026-11-15T21:30:00Z', to: WINDOW.to };
const CUT = { from: WINDOW.from, to: '2026-11-15T20:40:00Z' };
const MIDDLE = { from: '2026-11-15T20:20:00Z', to: CUT.to };
const UNKNOWN = 'whether anything changed';

it.each([
  ['all of it', WINDOW, 'Nothing changed in this time.'],
  ['a part of it', PART, 'Nothing changed in the part of this time that is recorded.'],
  ['its beginning', CUT, 'Nothing changed in the part of this time that is recorded.'],
  ['none of it', null, 'Not recorded.'],
  ['nobody says what', undefined, 'No change of this time is recorded.'],
])('where %s is recorded, silence says just that', (_, covered, says) => {
  expect(calmText(recorded(covered))).toBe(says);
});

it('tells which time there are no records of', () => {
  expect(besideText(recorded(WINDOW), false)).not.toContain(UNKNOWN);
  expect(besideText(recorded(undefined), false)).not.toContain(UNKNOWN);
  expect(besideText(recorded(null), false)).toContain(
    'Mainstay has no records of this time: whether anything changed then is not known.',
  );
  expect(besideText(recorded(PART), false, 'UTC')).toContain(
    'There are records only of 15 Nov 2026, 21:30 – 22:00: whether anything changed before is not known.',
  );
  expect(besideText(recorded(CUT), false, 'UTC')).toContain(
    'So much changed that only 15 Nov 2026, 20:00 – 20:40 is told, and nothing after it.',
  );
  expect(besideText(recorded(CUT), false, 'UTC')).not.toContain(UNKNOWN);
  const both = besideText(recorded(MIDDLE), false, 'UTC');
  expect(both).toContain('There are records only of 15 Nov 2026, 20:20 – 20:40: whether anything changed before is not known.');
  expect(both).toContain('So much changed that only 15 Nov 2026, 20:20 – 20:40 is told, and nothing after it.');
});

it('says on the axis that nothing changed, where no list does', () => {
  const calm = 'Nothing changed in this time.';
  expect(besideText(recorded(WINDOW), true)).toContain(calm);
  expect(besideText(recorded(WINDOW), false)).not.toContain(calm);
  expect(besideText(recorded(WINDOW, [{ at: WINDOW.from, what: 'db down' }]), true)).not.toContain(calm);
});
