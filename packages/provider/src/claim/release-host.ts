import { macHost, type MacHost, type MacHostSpec } from '@tartan/api';
import type { CallOptions, Client, Live } from '@tartan/kube';

export type Release = NonNullable<MacHostSpec['release']>;

/**
 * Puts a Mac on its way back: no holder any more, and a release, in one write. So nobody ever sees it free and not wiped, and a claim
 * and a release exclude each other (E6). A reboot that was asked for goes with the holder that asked.
 * Rejects with `conflict` when it is another Mac, or another version of it, than was judged.
 */
export const releaseHost = (
  client: Pick<Client, 'patch'>,
  host: Live<MacHost>,
  release: Release,
  options: CallOptions = {},
): Promise<Live<MacHost>> => {
  const { name, uid, resourceVersion } = host.metadata;
  const spec = { consumerRef: null, reboot: null, release };
  return client.patch(
    macHost.resource,
    { name },
    { type: 'merge', body: { metadata: { uid, resourceVersion }, spec } },
    options,
  );
};
