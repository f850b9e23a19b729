import { type Client, pods } from '@tartan/kube';
import { formatDigestReference, parseReference } from '../images/image-reference.ts';
import type { Journal, VmRecord } from '../journal/journal.ts';
import { vmNameOf } from '../journal/vm-identity.ts';
import type { PodOnNode } from './observe.ts';

type Pod = NonNullable<(typeof pods)['ofType']>;

/** With what its files are known by. */
export interface BoundPod extends PodOnNode {
  readonly uid: string;
}

/** Also those of containers that we do not run: what a Pod names is not for us to throw away. */
const imagesOf = ({ spec }: Pod): readonly string[] =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ image }) => image ?? []);

/** What the tag meant when it was pulled for this Pod: it may have moved since (INC-48). */
const recordedImage = ({ image: { reference, digest } }: VmRecord): readonly string[] => {
  const repository = parseReference(reference)?.repository;
  return repository === undefined || digest === undefined ? [] : [formatDigestReference({ repository, digest })];
};

/**
 * The Pods of this Node, and what the journal adds to them. From the API server itself, which a Node may ask for its own Pods only.
 * Rejects when either cannot be read. A Pod whose UID makes no name has no virtual machine, and its image is needed all the same.
 */
export const listPodsOnNode =
  (client: Pick<Client, 'list'>, nodeName: string, journal: Pick<Journal, 'list'>) =>
  async (signal: AbortSignal): Promise<readonly BoundPod[]> => {
    const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${nodeName}`, signal });
    const { records } = await journal.list();
    return items.map((pod) => {
      const { uid, name, namespace = '' } = pod.metadata;
      const record = records.find((one) => one.pod.uid === uid);
      return {
        uid,
        vm: record?.vm ?? vmNameOf({ uid, name, namespace }),
        images: [...new Set([...imagesOf(pod), ...(record === undefined ? [] : recordedImage(record))])],
      };
    });
  };
