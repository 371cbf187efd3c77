import type { Failure } from '../../lib/api/client';
import { cancelRun, changeJourney, deleteJourney, readRuns, runJourney, type Journey, type Run } from '../../lib/api/journeys';
import { readAll } from '../../lib/api/list';
import { underWay } from '../../lib/journeys/runs';
import { asking } from '../../state/ask.svelte';
import { router } from '../../state/router.svelte';
import { voice } from '../../state/voice.svelte';

type Named = Pick<Journey, 'id' | 'name'>;

/** The most of one page: two hold all runs that are kept. */
const PAGE = 200;

/** Begins a run and shows it; where one is under way, that one. Says why not. */
export async function runNow({ id, name }: Named): Promise<Failure | null> {
  const answer = await runJourney(id);
  if (!answer.ok) {
    if (answer.failure.code !== 'run_in_progress') return answer.failure;
    // Newer ones may have been skipped because of it.
    const runs = await readAll((cursor) => readRuns(id, cursor, PAGE));
    const under = runs.ok ? underWay(runs.value) : null;
    if (under === null) return answer.failure;
    voice.show(`A run of ${name} is under way`);
    router.go('run', { id: under.id });
    return null;
  }
  router.go('run', { id: answer.value.id });
  return null;
}

/** Switches its schedule on or off; says why not. */
export async function turn({ id, name }: Named, on: boolean): Promise<Failure | null> {
  const answer = await changeJourney(id, { is_enabled: on });
  if (!answer.ok) return answer.failure;
  voice.show(on ? `${name} runs on its schedule` : `${name} runs only when it is asked to`);
  return null;
}

/** Asks before a journey is deleted. */
export function askToDelete({ id, name }: Named, done: () => void): void {
  asking.ask({
    title: `Delete ${name}?`,
    text: 'The journey and all of its runs are removed for good; a run that is under way is ended.',
    action: 'Delete journey and runs',
    danger: true,
    run: async () => {
      const answer = await deleteJourney(id);
      if (!answer.ok && answer.failure.status !== 404) return answer.failure;
      voice.show(`${name} is deleted`);
      done();
      return null;
    },
  });
}

/** Asks before a run is ended; what shows it hears of it by an event. */
export function askToCancel({ id, journey_name }: Pick<Run, 'id' | 'journey_name'>): void {
  asking.ask({
    title: `Cancel this run of ${journey_name}?`,
    text: 'What it has sent until then stays sent. What came of its steps so far is kept; it says nothing about the journey.',
    action: 'Cancel the run',
    otherwise: 'Let it run',
    danger: true,
    run: async () => {
      const answer = await cancelRun(id);
      if (!answer.ok && answer.failure.code !== 'run_ended') return answer.failure;
      voice.show(answer.ok ? `The run of ${journey_name} is cancelled` : `The run of ${journey_name} had ended by itself`);
      return null;
    },
  });
}
