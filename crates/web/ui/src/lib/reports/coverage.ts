import type { TimeWindow } from '../api/files';
import type { Recorded } from './document';
import { windowText, zonedWindow } from './window';

/** What is known of the time that was asked about: silence without records tells nothing. */
type Coverage = 'whole' | 'part' | 'none' | 'untold';

/** What stands in the place of entries, by what is known. */
const CALM: Readonly<Record<Coverage, string>> = {
  whole: 'Nothing changed in this time.',
  part: 'Nothing changed in the part of this time that is recorded.',
  none: 'Not recorded.',
  // Reports of earlier versions do not tell which of the two it is.
  untold: 'No change of this time is recorded.',
};

export function calmText(recorded: Recorded): string {
  return CALM[coverageOf(recorded)];
}

/** How the two timelines stand, and of which time there are no records. */
export function besideText(recorded: Recorded, onAxis: boolean, zone?: string): string {
  const span = zonedWindow(recorded, zone);
  const how = onAxis
    ? `What the call says beside what Mainstay recorded, ${span}.`
    : `The call tells no times of day, so it stands beside what Mainstay recorded, ${span}, without being matched.`;
  const calm = onAxis && recorded.entries.length === 0 ? calmText(recorded) : '';
  return [how, unknownText(recorded, zone), calm].filter((part) => part !== '').join(' ');
}

function unknownText(recorded: Recorded, zone?: string): string {
  const { covered } = recorded;
  if (covered === null) return 'Mainstay has no records of this time: whether anything changed then is not known.';
  if (covered === undefined) return '';
  const span = windowText(covered, zone);
  const before = `There are records only of ${span}: whether anything changed before is not known.`;
  const after = `So much changed that only ${span} is told, and nothing after it.`;
  return [beginsLate(recorded, covered) ? before : '', endsEarly(recorded, covered) ? after : '']
    .filter((part) => part !== '')
    .join(' ');
}

function coverageOf(recorded: Recorded): Coverage {
  const { covered } = recorded;
  if (covered === undefined) return 'untold';
  if (covered === null) return 'none';
  return beginsLate(recorded, covered) || endsEarly(recorded, covered) ? 'part' : 'whole';
}

function beginsLate({ from }: TimeWindow, covered: TimeWindow): boolean {
  return Date.parse(covered.from) > Date.parse(from);
}

function endsEarly({ to }: TimeWindow, covered: TimeWindow): boolean {
  return Date.parse(covered.to) < Date.parse(to);
}
