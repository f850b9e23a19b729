import type { KubeObject, ObjectMeta } from '../object.ts';

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === '' ||
  value === 0 ||
  (Array.isArray(value) ? value.length === 0 : typeof value === 'object' && Object.keys(value).length === 0);

/** `metadata` is the same type in every kind, and the real server leaves out of it what is empty. 0 means something for a grace period. */
export const tidyMetadata = (object: KubeObject): void => {
  const { metadata } = object;
  for (const [field, value] of Object.entries(metadata)) {
    if (field !== 'deletionGracePeriodSeconds' && isEmpty(value)) delete metadata[field as keyof ObjectMeta];
  }
};
