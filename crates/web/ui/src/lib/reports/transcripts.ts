import { grouped } from '../time';

/** What the server takes. */
export interface Limits {
  readonly max_file_bytes: number;
  readonly extensions: readonly string[];
}

/** What is known before the server said it. */
export const LIMITS: Limits = { max_file_bytes: 10_485_760, extensions: ['txt', 'vtt'] };

/** So many wait to be sent, one after another: as many as the server takes in a minute. */
export const WAITING_LIMIT = 20;

interface Named {
  readonly name: string;
  readonly size: number;
}

/** Why a file is not even sent, in words that say what to do; null when it is fine. */
export function problemOf({ name, size }: Named, { max_file_bytes, extensions }: Limits): string | null {
  const end = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  if (!extensions.includes(end)) {
    return `Only transcripts whose name ends in ${orList(extensions)} are read. Save it as one of these.`;
  }
  if (size === 0) return 'It is empty. Choose a transcript with at least one line.';
  if (size > max_file_bytes) {
    return `It has ${bytes(size)}, and a transcript may have ${bytes(max_file_bytes)}. Send it in parts of the call.`;
  }
  return null;
}

/** What of the chosen ones fits into the queue. */
export function fitting<Item>(chosen: readonly Item[], waiting: number): {
  readonly taken: readonly Item[];
  readonly left: number;
} {
  const taken = chosen.slice(0, Math.max(WAITING_LIMIT - waiting, 0));
  return { taken, left: chosen.length - taken.length };
}

/** "8.1 MB", "640 kB", "12 bytes": rounded so that a limit is never said of less than itself. */
export function bytes(size: number): string {
  if (size >= MEGABYTE) return `${trimmed(size / MEGABYTE)}\u00a0MB`;
  if (size >= KILOBYTE) return `${grouped(Math.round(size / KILOBYTE))}\u00a0kB`;
  return size === 1 ? '1\u00a0byte' : `${String(size)}\u00a0bytes`;
}

/** What the chooser of the browser offers. */
export function acceptOf({ extensions }: Limits): string {
  return extensions.map((one) => `.${one}`).join(',');
}

export function orList(extensions: readonly string[]): string {
  return extensions.map((one) => `.${one}`).join(' or ');
}

const KILOBYTE = 1_024;
const MEGABYTE = KILOBYTE * KILOBYTE;

/** A size just above a limit must not read like the limit itself. */
function trimmed(value: number): string {
  const shown = (Math.ceil(value * 10) / 10).toFixed(1);
  return shown.replace(/\.0$/, '');
}
