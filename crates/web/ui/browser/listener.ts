import { BlockReader } from '../src/lib/live/sse';
import type { Stage } from './stage';

/** An event, and when it arrived by the clock of this machine. */
export interface Heard {
  readonly type: string;
  readonly arrived: number;
  readonly event: Record<string, unknown>;
}

/** Follows the server's events as a program does: by a token, so that no browser loses its place. */
export class Listener {
  readonly heard: Heard[] = [];
  readonly #stop = new AbortController();

  /** Follows from now on. */
  async open(stage: Stage): Promise<this> {
    const token = await stage.asAdmin(async (api) => {
      const answer = await api.post('/api/account/tokens', { name: 'listener', scope: 'read', expires_in_days: 1 });
      return ((await answer.json()) as { token: string }).token;
    });
    const answer = await fetch(`${stage.origin}/api/events`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: this.#stop.signal,
    });
    if (answer.status !== 200 || answer.body === null) throw new Error(await answer.text());
    void this.#listen(answer.body);
    return this;
  }

  close(): void {
    this.#stop.abort();
  }

  async #listen(body: ReadableStream<Uint8Array>): Promise<void> {
    const [pieces, blocks, text] = [body.getReader(), new BlockReader(), new TextDecoder()];
    try {
      for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
        for (const { event, data } of blocks.push(text.decode(piece.value, { stream: true }))) {
          if (event === 'message' && data !== null) this.#note(JSON.parse(data) as Record<string, unknown>);
        }
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  #note(event: Record<string, unknown>): void {
    this.heard.push({ type: String(event['type']), arrived: Date.now(), event });
  }
}
