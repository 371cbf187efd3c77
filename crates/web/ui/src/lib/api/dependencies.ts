import type { Slice } from './accounts';
import { read, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';
import { isUptime, type Uptime } from './services';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Dependency = Schemas['Dependency'];
export type DependencyStatus = Schemas['DependencyStatus'];
export type DependencyError = Schemas['DependencyError'];
export type LatencyChart = Schemas['LatencyChart'];
export type LatencyBucket = Schemas['LatencyBucket'];
export type Timeline = Schemas['Timeline'];

export const RANGES = ['1h', '6h', '24h', '7d', '30d'] as const;
export type Range = (typeof RANGES)[number];

export function readLatency(id: string, range: Range): Promise<Answer<LatencyChart>> {
  return read(`${one(id)}/latency?range=${range}`, isChart);
}

export function readTimeline(id: string, range: Range): Promise<Answer<Timeline>> {
  return read(`${one(id)}/timeline?range=${range}`, isTimeline);
}

export function readDependencyUptime(id: string): Promise<Answer<Uptime>> {
  return read(`${one(id)}/uptime`, isUptime);
}

export function readErrors(
  id: string,
  cursor: string | null,
  limit: number,
): Promise<Answer<Slice<DependencyError>>> {
  return read(listPath(`${one(id)}/errors`, { cursor }, limit), isSlice<DependencyError>);
}

const one = (id: string) => `/api/dependencies/${encodeURIComponent(id)}`;

function isChart(body: Body): body is Body & LatencyChart {
  return Array.isArray(body['buckets']);
}

function isTimeline(body: Body): body is Body & Timeline {
  return Array.isArray(body['transitions']) && typeof body['initial'] === 'string';
}
