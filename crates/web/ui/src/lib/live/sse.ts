/** One block of an event stream: what stands between two empty lines. */
export interface Block {
  /** `message` where the block names none. */
  readonly event: string;
  /** Null where the block has no data: it only moves the position. */
  readonly data: string | null;
  readonly id: string | null;
  /** Milliseconds after which to come again. */
  readonly retry: number | null;
}

/** A longer line or block is no event of ours, and would only fill the memory. */
export const PENDING_LIMIT = 1 << 20;

const NOTHING: Block = { event: '', data: null, id: null, retry: null };

/**
 * Reads an event stream piece by piece, wherever the pieces are cut. By hand, because EventSource
 * hides comments (the server's sign of life) and the status of a refusal.
 */
export class BlockReader {
  #text = '';
  #begun = false;
  #endedByReturn = false;
  #block = NOTHING;
  #size = 0;

  /** Takes the next piece and gives the blocks that it completed. */
  push(piece: string): Block[] {
    this.#text += this.#opening(piece);
    const blocks: Block[] = [];
    for (let line = this.#line(); line !== null; line = this.#line()) {
      const block = this.#take(line);
      if (block !== null) blocks.push(block);
    }
    if (this.#text.length + this.#size > PENDING_LIMIT) throw new RangeError('the event is too long');
    return blocks;
  }

  /** A stream may open with a byte order mark, and a line end may be cut in two. */
  #opening(piece: string): string {
    if (piece === '') return piece;
    let text = piece;
    if (!this.#begun && text.startsWith('\ufeff')) text = text.slice(1);
    if (this.#endedByReturn && text.startsWith('\n')) text = text.slice(1);
    this.#begun = true;
    this.#endedByReturn = false;
    return text;
  }

  #line(): string | null {
    const end = this.#text.search(/[\r\n]/);
    if (end === -1) return null;
    const line = this.#text.slice(0, end);
    const isReturn = this.#text[end] === '\r';
    const both = isReturn && this.#text[end + 1] === '\n';
    this.#endedByReturn = isReturn && end + 1 === this.#text.length;
    this.#text = this.#text.slice(end + (both ? 2 : 1));
    return line;
  }

  /** Adds a line to the block; the empty one ends it. */
  #take(line: string): Block | null {
    if (line !== '') {
      this.#block = withField(this.#block, line);
      this.#size = this.#block.data?.length ?? 0;
      return null;
    }
    const block = this.#block;
    this.#block = NOTHING;
    this.#size = 0;
    if (block === NOTHING) return null;
    return { ...block, event: block.event === '' ? 'message' : block.event };
  }
}

function withField(block: Block, line: string): Block {
  const colon = line.indexOf(':');
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
  switch (name) {
    case 'event':
      return { ...block, event: value };
    case 'data':
      return { ...block, data: block.data === null ? value : `${block.data}\n${value}` };
    case 'id':
      return value.includes('\0') ? block : { ...block, id: value };
    case 'retry':
      return /^\d+$/.test(value) ? { ...block, retry: Number(value) } : block;
    default:
      // A comment has no name; a field of another age is nobody's.
      return block;
  }
}
