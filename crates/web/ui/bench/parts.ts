import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What is loaded only once it is needed, and so is no part of the first load. */
export interface LazyPart {
  /** Of its source: `services`, `services_latency_chart`. */
  readonly name: string;
  /** The files that come with it, as the server names them, without those of the first load. */
  readonly files: readonly string[];
}

/** What a build of the dashboard says of itself. */
export type Manifest = Readonly<Record<string, Chunk>>;

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly isDynamicEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

/** Every lazy part there is: none has to be thought of. */
export function lazyParts(manifest: Manifest): LazyPart[] {
  const sources = Object.entries(manifest);
  const first = new Set(sources.filter(([, { isEntry }]) => isEntry === true).flatMap(([source]) => filesOf(manifest, source)));
  return sources
    .filter(([, { isDynamicEntry }]) => isDynamicEntry === true)
    .map(([source]) => ({ name: nameOf(source), files: filesOf(manifest, source).filter((file) => !first.has(file)) }))
    .sort((one, other) => one.name.localeCompare(other.name));
}

/** Builds the dashboard aside as the binary has it, for the list of its parts. */
export async function readManifest(): Promise<Manifest> {
  const folder = await mkdtemp(join(tmpdir(), 'mainstay-parts-'));
  try {
    // The test runner's own mode would make another build.
    const env = { ...process.env, NODE_ENV: 'production' };
    const vite = join('node_modules', 'vite', 'bin', 'vite.js');
    await promisify(execFile)(process.execPath, [vite, 'build', '--manifest', 'parts.json', '--outDir', folder, '--emptyOutDir'], { env });
    return JSON.parse(await readFile(join(folder, 'parts.json'), 'utf8')) as Manifest;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The bytes of files as they come over the wire. */
export async function weigh(origin: string, files: readonly string[]): Promise<number> {
  const weights = await Promise.all(files.map((file) => bytesOf(new URL(file, origin))));
  return weights.reduce((sum, bytes) => sum + bytes, 0);
}

function bytesOf(address: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = get(address, { headers: { 'Accept-Encoding': 'br, gzip' } }, (answer) => {
      let bytes = 0;
      answer.on('data', (piece: Buffer) => (bytes += piece.length));
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(bytes);
        else reject(new Error(`${address.pathname} is not in the binary: it was built from another source`));
      });
    });
    asked.on('error', reject);
  });
}

/** A chunk with all that it can't be without. */
function filesOf(manifest: Manifest, source: string, seen = new Set<string>()): string[] {
  const chunk = manifest[source];
  if (chunk === undefined || seen.has(source)) return [];
  seen.add(source);
  const others = (chunk.imports ?? []).flatMap((other) => filesOf(manifest, other, seen));
  return [...new Set([chunk.file, ...(chunk.css ?? []), ...others])].map((file) => (file.startsWith('/') ? file : `/${file}`));
}

/** `src/pages/services/LatencyChart.svelte` is `services_latency_chart`. */
function nameOf(source: string): string {
  return source
    .replace(/^src\/(?:pages\/)?/, '')
    .replace(/\.\w+$/, '')
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('/', '_')
    .toLowerCase();
}
