import { type Client, isKubeError, type KubeObject, type Live, type ObjectName, type Resource } from '@tartan/kube';

export interface WaitOptions<T extends KubeObject> {
  readonly client: Client;
  readonly resource: Resource<T>;
  readonly name: ObjectName;
  /** For the error when it never happens: `is Ready`. */
  readonly what: string;
  /** `undefined`: the object does not exist. */
  readonly holds: (object: Live<T> | undefined) => boolean;
  readonly signal: AbortSignal;
}

/** Watches an object until it satisfies `holds`, and returns it. Reports its last state when `signal` fires before. */
export const waitForObject = async <T extends KubeObject>(wanted: WaitOptions<T>): Promise<Live<T> | undefined> => {
  const { client, resource, name, what, holds, signal } = wanted;
  const selection = {
    fieldSelector: `metadata.name=${name.name}`,
    ...(name.namespace !== undefined && { namespace: name.namespace }),
    signal,
  };
  let last: Live<T> | undefined;
  try {
    for (;;) {
      const { items, resourceVersion } = await client.list(resource, selection);
      last = items[0];
      if (holds(last)) return last;
      for await (const event of client.watch(resource, { ...selection, resourceVersion })) {
        if (event.type === 'BOOKMARK') continue;
        last = event.type === 'DELETED' ? undefined : event.object;
        if (holds(last)) return last;
      }
    }
  } catch (error) {
    if (!signal.aborted && !isKubeError(error, 'aborted')) throw error;
    const seen = last === undefined ? 'there is none' : JSON.stringify(withoutNoise(last), undefined, 1);
    throw new Error(`waited in vain until ${resource.kind} ${name.name} ${what}: ${seen}`, { cause: error });
  }
};

const withoutNoise = <T extends KubeObject>(object: Live<T>): object => ({
  ...object,
  metadata: { ...object.metadata, managedFields: undefined },
});
