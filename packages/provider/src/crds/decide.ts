import type { CustomResourceDefinition } from '@tartan/api/crds';
import type { Live } from '@tartan/kube';
import { knownTo } from './knows.ts';

export type Decision =
  | { readonly kind: 'create' }
  /** The server says whether that changes anything: it knows the defaults that it fills in. */
  | { readonly kind: 'update'; readonly object: Live<CustomResourceDefinition> }
  /** The one in place is newer than this program. */
  | { readonly kind: 'keep'; readonly more: readonly string[] }
  /** Neither is newer: each has what the other lacks. */
  | { readonly kind: 'refuse'; readonly more: readonly string[]; readonly less: readonly string[] };

/**
 * What becomes of one definition. It never goes back to an older one by itself: the server drops fields that a definition does not have
 * from objects as they are written, so what newer programs keep there would be lost, bit by bit. There is no number to tell older from
 * newer by, and none is needed: fields are only ever added to a version that is served, so the one with more fields is newer.
 */
export const decide = (
  wanted: CustomResourceDefinition,
  found: Live<CustomResourceDefinition> | undefined,
  { dropFields }: { readonly dropFields: boolean },
): Decision => {
  if (found === undefined) return { kind: 'create' };
  const [ours, theirs] = [knownTo(wanted), knownTo(found)];
  const more = [...theirs.difference(ours)];
  const less = [...ours.difference(theirs)];
  if (more.length > 0 && !dropFields) return less.length > 0 ? { kind: 'refuse', more, less } : { kind: 'keep', more };
  return { kind: 'update', object: updated(wanted, found) };
};

/** Labels and annotations of others stay, such as those by which Helm knows its own; also what the server said about it. */
const updated = (
  wanted: CustomResourceDefinition,
  found: Live<CustomResourceDefinition>,
): Live<CustomResourceDefinition> => {
  const labels = { ...found.metadata.labels, ...wanted.metadata?.labels };
  const metadata = { ...found.metadata, ...(Object.keys(labels).length > 0 && { labels }) };
  return { ...found, metadata, spec: wanted.spec };
};
