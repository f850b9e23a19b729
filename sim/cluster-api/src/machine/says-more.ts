import { isDeepStrictEqual } from 'node:util';
import type { Live, Predicate } from '@tartan/kube';
import type { Node } from './snapshot.ts';

const told = ({ metadata, spec, status }: Live<Node>): unknown => [
  metadata.labels,
  metadata.annotations,
  metadata.deletionTimestamp,
  spec,
  status?.nodeInfo,
  status?.conditions?.map(({ type, status: value, reason, message }) => [type, value, reason, message]),
];

/** A Node that only says once more that it is alive has nothing new to say. */
export const saysMore: Predicate<Node> = (change) =>
  change.type !== 'changed' || !isDeepStrictEqual(told(change.previous), told(change.object));
