import type { Failure } from '../../lib/api/client';
import { deleteFile, retryFile, type Transcript } from '../../lib/api/files';
import { bytes } from '../../lib/reports/transcripts';
import { asking } from '../../state/ask.svelte';
import { voice } from '../../state/voice.svelte';

/** Asks before a transcript is deleted, in words that name all that goes with it. */
export function askToDelete(file: Transcript, done: () => void): void {
  const size = file.size_bytes === null ? '' : ` (${bytes(file.size_bytes)})`;
  const made = file.status === 'succeeded';
  const goes = made ? `${size}, its report and every link that shares it are` : `${size} is`;
  asking.ask({
    title: `Delete ${file.name}?`,
    text: `The transcript${goes} removed from this server for good.`,
    action: made ? 'Delete transcript and report' : 'Delete the transcript',
    danger: true,
    run: async () => {
      const answer = await deleteFile(file.id);
      if (!answer.ok && answer.failure.status !== 404) return answer.failure;
      voice.show(`${file.name} is deleted`);
      done();
      return null;
    },
  });
}

/** Queues a failed one again; says why not. */
export async function tryAgain(file: Transcript, done: (file: Transcript) => void): Promise<Failure | null> {
  const answer = await retryFile(file.id);
  if (!answer.ok) return answer.failure;
  voice.show(`The report of ${file.name} is queued again`);
  done(answer.value);
  return null;
}
