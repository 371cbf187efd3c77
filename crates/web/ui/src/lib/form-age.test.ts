import { describe, expect, it } from 'vitest';
import { FORM_MARGIN_MS, FORM_MIN_AGE_MS, FORM_STALE_MS, holdBack, isStale } from './form-age';

const LOADED = 1_000_000;

describe('a signed form', () => {
  it('is stale after half a day, and when the clock was set back', () => {
    expect(isStale(LOADED, LOADED)).toBe(false);
    expect(isStale(LOADED, LOADED + FORM_STALE_MS - 1)).toBe(false);
    expect(isStale(LOADED, LOADED + FORM_STALE_MS)).toBe(true);
    expect(isStale(LOADED, LOADED - 1)).toBe(true);
  });

  it('is held back only while a machine could have filled it in', () => {
    expect(holdBack(LOADED, LOADED)).toBe(FORM_MIN_AGE_MS + FORM_MARGIN_MS);
    expect(holdBack(LOADED, LOADED + FORM_MIN_AGE_MS)).toBe(FORM_MARGIN_MS);
    expect(holdBack(LOADED, LOADED + FORM_MIN_AGE_MS + FORM_MARGIN_MS)).toBe(0);
    expect(holdBack(LOADED, LOADED + 60_000)).toBe(0);
    expect(holdBack(LOADED, LOADED - 60_000)).toBe(FORM_MIN_AGE_MS + FORM_MARGIN_MS);
  });
});
