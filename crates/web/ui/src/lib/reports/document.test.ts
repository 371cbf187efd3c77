import { expect, it } from 'vitest';
import { documentOf, leftOutText, recordedOf, writtenBy, titleOf } from './document';

const evidence = [{ quote: 'the pool is full', timecode: '00:01:10' }];
const found = [{ ...evidence[0], found: true }];

it('reads a whole report', () => {
  const read = documentOf({
    title: 'Checkout was down',
    summary: 'A migration held locks.',
    impact: { text: 'Nobody could pay.', evidence },
    severity: 'critical',
    started_at: '2026-11-15T21:00:00Z',
    ended_at: null,
    timeline: [{ at: '00:01:10', what: 'the pool is full', evidence }],
    root_causes: [{ text: 'locks', evidence }],
    contributing_factors: [],
    what_went_well: [{ text: 'rollback', evidence: [] }],
    actions: [{ owner: 'Alice', action: 'raise the pool', due: null, evidence }],
    affected_dependencies: [{ name: 'postgres', effect: 'slow', evidence }],
    open_questions: [{ question: 'why so late?', evidence }],
  });
  expect(read.impact).toEqual({ text: 'Nobody could pay.', evidence: found });
  expect(read.severity).toBe('critical');
  expect(read.timeline).toEqual([{ at: '00:01:10', what: 'the pool is full', evidence: found }]);
  expect(read.actions[0]).toEqual({ owner: 'Alice', action: 'raise the pool', due: null, evidence: found });
  expect(read.affected[0]?.name).toBe('postgres');
  expect(read.questions).toEqual([{ text: 'why so late?', evidence: found }]);
  expect(read.endedAt).toBeNull();
});

it('marks the quotes that nobody said', () => {
  const twice = () => [...evidence, { quote: 'it was the intern', timecode: null }];
  const read = documentOf(
    { impact: { text: 'x', evidence: twice() }, timeline: [{ what: 'a', evidence }, { what: 'b', evidence: twice() }] },
    ['/timeline/1/evidence/1', '/nowhere/7/evidence/0'],
  );
  expect(read.impact.evidence.map(({ found: is }) => is)).toEqual([true, true]);
  expect(read.timeline.map((one) => one.evidence.map(({ found: is }) => is))).toEqual([[true], [true, false]]);
});


it.each([null, 7, 'text', [], {}, { timeline: 'x', actions: [null, 3], severity: 'huge', impact: 'y' }])(
  'draws something of %j too',
  (value) => {
    const read = documentOf(value);
    expect(read.title).toBe('');
    expect(read.severity).toBe('unknown');
    expect(read.timeline).toEqual([]);
  },
);

it('reads what was recorded, and leaves out what has no time', () => {
  const recorded = recordedOf({
    from: '2026-11-15T21:00:00.000Z',
    to: '2026-11-15T22:00:00.000Z',
    entries: [{ at: '2026-11-15T21:01:00.000Z', what: 'db is down' }, { at: 'soon', what: '' }, 4],
  });
  expect(recorded?.entries).toEqual([{ at: '2026-11-15T21:01:00.000Z', what: 'db is down' }]);
  expect(recorded?.covered).toBeUndefined();
  expect(recordedOf(null)).toBeNull();
  expect(recordedOf({ from: '' })).toBeNull();
});

it('reads of which time there are records', () => {
  const window = { from: '2026-11-15T21:00:00.000Z', to: '2026-11-15T22:00:00.000Z' };
  expect(recordedOf({ ...window, covered: window })?.covered).toEqual(window);
  expect(recordedOf({ ...window, covered: null })?.covered).toBeNull();
});

it.each([
  [null, ''],
  [0, ''],
  [1, '1 line in the middle'],
  [1_200, '1200 lines in the middle'],
])('of %s lines that were left out says %j', (lines, says) => {
  expect(leftOutText(lines)).toContain(says);
  expect(leftOutText(lines) === '').toBe(says === '');
});

it('says who wrote it, and that nobody did', () => {
  expect(writtenBy('gpt-5-mini')).toBe('by gpt-5-mini');
  expect(writtenBy('fake')).toBe('without a language model');
});

it('goes by the name of its transcript where its title can not be seen', () => {
  for (const title of [null, '', ' ', '\u200B', '\u2060 \uFEFF', '\u3164']) {
    expect(titleOf({ title, name: 'call.vtt' })).toBe('call.vtt');
    expect(documentOf({ title }).title).toBe('');
  }
  expect(titleOf({ title: ' It was down', name: 'call.vtt' })).toBe(' It was down');
});
