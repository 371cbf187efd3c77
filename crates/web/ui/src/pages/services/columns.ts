import { P95_TITLE } from '../../lib/board';
import type { OrderKey } from '../../lib/board-order';

export type ColumnName =
  | 'status'
  | 'name'
  | 'team'
  | 'strip'
  | 'spark'
  | 'p95'
  | 'interval'
  | 'breaker'
  | 'warnings'
  | 'leans'
  | 'changed'
  | 'open';

export interface BoardColumn {
  readonly name: ColumnName;
  readonly title: string;
  /** What the list can be ordered by here. */
  readonly order?: OrderKey;
  /** Its title is read out, not seen. */
  readonly hidden?: boolean;
}

/** The columns of the board, as they stand. */
export const COLUMNS: readonly BoardColumn[] = [
  { name: 'status', title: 'Status', order: 'status' },
  { name: 'name', title: 'Service', order: 'name' },
  { name: 'team', title: 'Team', order: 'team' },
  { name: 'strip', title: 'Last 24 h' },
  { name: 'spark', title: 'p95, 24 h' },
  { name: 'p95', title: P95_TITLE, order: 'p95' },
  { name: 'interval', title: 'Interval', order: 'interval' },
  { name: 'breaker', title: 'Breaker', order: 'breaker' },
  { name: 'warnings', title: 'Issues', order: 'warnings' },
  { name: 'leans', title: 'Leans on', order: 'leans' },
  { name: 'changed', title: 'Changed', order: 'changed' },
  { name: 'open', title: 'Page', hidden: true },
];
