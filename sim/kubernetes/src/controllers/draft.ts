import type { KubeObject, ObjectMeta } from '../object.ts';

/** An object as a client sends it: the server fills in the rest of the metadata. */
export const draft = (
  apiVersion: string,
  kind: string,
  metadata: Partial<ObjectMeta> & { name: string },
  rest: Record<string, unknown> = {},
): KubeObject => ({
  apiVersion,
  kind,
  ...rest,
  metadata: { uid: '', resourceVersion: '', creationTimestamp: '', ...metadata },
});
