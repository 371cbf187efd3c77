import { appendFileSync } from 'node:fs';

/** Where figures go: the runner's own output is not for them. */
const file = process.env['MAINSTAY_FIGURES'];

export function figure(name: string, value: number, unit: string): void {
  if (file === undefined) throw new Error('MAINSTAY_FIGURES must name a file for the figures');
  appendFileSync(file, `figure ${name} ${value.toFixed(2)} ${unit}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}
