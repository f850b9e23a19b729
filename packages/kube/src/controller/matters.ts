import type { KubeObject } from '../objects/object.ts';
import type { Matters } from './from-cache.ts';

/** Objects that come and go always matter. These say which changes of one that stays do. */

/** Its spec, or that its deletion has begun. Status writes, our own above all, do not count. For kinds that keep a generation. */
export const specChanged: Matters<KubeObject> = (change) =>
  change.type !== 'changed' ||
  change.object.metadata.generation !== change.previous.metadata.generation ||
  change.object.metadata.deletionTimestamp !== change.previous.metadata.deletionTimestamp;

const sameEntries = (a: Record<string, string> = {}, b: Record<string, string> = {}): boolean => {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
};

export const labelsChanged: Matters<KubeObject> = (change) =>
  change.type !== 'changed' || !sameEntries(change.object.metadata.labels, change.previous.metadata.labels);

export const annotationsChanged: Matters<KubeObject> = (change) =>
  change.type !== 'changed' || !sameEntries(change.object.metadata.annotations, change.previous.metadata.annotations);

export const anyOf =
  <T extends KubeObject>(...conditions: readonly Matters<T>[]): Matters<T> =>
  (change) =>
    conditions.some((matters) => matters(change));
