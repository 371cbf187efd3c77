import { afterEach, describe, expect, it, vi } from 'vitest';
import { mendStyles } from './styles';

/** As much of a link to a style as is needed here. */
class FakeLink {
  onload: (() => void) | null = null;
  onerror: (() => void) | null = null;
  replacedBy: FakeLink | null = null;

  constructor(readonly href: string, readonly sheet: { cssRules: readonly string[] } | null) {}

  cloneNode(): FakeLink {
    return new FakeLink(this.href, null);
  }

  replaceWith(other: FakeLink): void {
    this.replacedBy = other;
  }
}

const whole = new FakeLink('/whole.css', { cssRules: ['a {}'] });

function openPage(...links: FakeLink[]): void {
  vi.stubGlobal('document', { querySelectorAll: () => links });
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('styles that did not come', () => {
  it('are asked for again, and waited for', async () => {
    const [none, empty] = [new FakeLink('/none.css', null), new FakeLink('/empty.css', { cssRules: [] })];
    openPage(whole, none, empty);
    let mended = false;
    const done = mendStyles().then(() => (mended = true));
    expect(whole.replacedBy).toBeNull();
    expect([none, empty].map(({ replacedBy }) => replacedBy?.href)).toEqual(['/none.css', '/empty.css']);
    none.replacedBy?.onload?.();
    await Promise.resolve();
    expect(mended).toBe(false);
    empty.replacedBy?.onload?.();
    await done;
  });

  it('are told when they fail again', async () => {
    const none = new FakeLink('/none.css', null);
    openPage(none);
    const done = mendStyles();
    none.replacedBy?.onerror?.();
    await expect(done).rejects.toThrow('/none.css');
  });

  it('are none where all came', async () => {
    openPage(whole);
    await mendStyles();
    expect(whole.replacedBy).toBeNull();
  });
});
