/**
 * Up to where the streams are known: one number for the organisation's, one for the person's own.
 * Each grows by one with every event, as long as the epoch is the same.
 */
export interface Position {
  readonly epoch: string;
  readonly org: number;
  readonly user: number;
}

/** Reads `<epoch>.<org>.<user>`; null for anything else. */
export function parsePosition(id: string | null): Position | null {
  const [, epoch, org, user] = /^([\w-]+)\.(\d{1,15})\.(\d{1,15})$/.exec(id ?? '') ?? [];
  if (epoch === undefined) return null;
  return { epoch, org: Number(org), user: Number(user) };
}

export function formatPosition({ epoch, org, user }: Position): string {
  return `${epoch}.${String(org)}.${String(user)}`;
}

export function sameEpoch(one: Position, other: Position): boolean {
  return one.epoch === other.epoch;
}

/** Whoever stands here has seen everything up to there. */
export function covers(here: Position, there: Position): boolean {
  return sameEpoch(here, there) && here.org >= there.org && here.user >= there.user;
}

/** The furthest place from which neither of the two misses anything. */
export function earlier(one: Position, other: Position): Position {
  return {
    epoch: one.epoch,
    org: Math.min(one.org, other.org),
    user: Math.min(one.user, other.user),
  };
}

/** The place of whoever was at both. */
export function later(one: Position, other: Position): Position {
  return {
    epoch: one.epoch,
    org: Math.max(one.org, other.org),
    user: Math.max(one.user, other.user),
  };
}
