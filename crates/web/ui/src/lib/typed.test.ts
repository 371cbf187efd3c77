import { describe, expect, it } from 'vitest';
import { wouldLose } from './typed';

describe('leaving a page loses something', () => {
  it.each([
    ['where nothing can be typed', [], false],
    ['where nothing was typed', [{ value: '', before: '', readonly: false }], false],
    ['where it is as it came', [{ value: 'a', before: 'a', readonly: false }], false],
    ['where something was taken away', [{ value: '', before: 'a', readonly: false }], true],
    ['where a switch was turned', [{ value: 'false', before: 'true', readonly: false }], true],
    ['where a switch was turned and turned back', [{ value: 'true', before: 'true', readonly: false }], false],
    ['where it can only be read', [{ value: 'a', before: '', readonly: true }], false],
    ['where something was typed', [{ value: 'a', before: '', readonly: false }], true],
    ['where one of several was', [{ value: '', before: '', readonly: false }, { value: 'b', before: 'a', readonly: false }], true],
  ])('%s', (_, fields, lost) => {
    expect(wouldLose(fields)).toBe(lost);
  });
});
