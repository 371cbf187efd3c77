import type { Slice } from './accounts';
import { read, type Answer } from './client';
import { isSlice } from './list';
import type { components } from './schema';

export type Setting = components['schemas']['Setting'];

export function readSettings(): Promise<Answer<Slice<Setting>>> {
  return read('/api/admin/settings', isSlice<Setting>);
}
