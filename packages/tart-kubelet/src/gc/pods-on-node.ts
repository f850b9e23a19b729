import { type Client, pods } from '@tartan/kube';
import { formatDigestReference, parseReference } from '../images/image-reference.ts';
import type { Journal, VmRecord } from '../journal/journal.ts';
import { vmNameOf } from '../journal/vm-identity.ts';
import type { PodOnNode } from './observe.ts';

type Pod = NonNullable<(typeof pods)['ofType']>;

/** With the UID, which its folders are named by. */
export interface BoundPod extends PodOnNode {
  readonly uid: string;
}

/** Includes containers that the agent does not run: images that a Pod references are kept. */
const imagesOf = ({ spec }: Pod): readonly string[] =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ image }) => image ?? []);

/** The digest that was pulled for this Pod: the tag may have moved since (INC-48). */
const recordedImage = ({ image: { reference, digest } }: VmRecord): readonly string[] => {
  const repository = parseReference(reference)?.repository;
  return repository === undefined || digest === undefined ? [] : [formatDigestReference({ repository, digest })];
};

/**
 * The Pods of this Node with their journal records. A live read from the API server, limited to the Node's own Pods. Rejects when
 * either cannot be read. A Pod with an invalid UID has no VM, but its image is still needed.
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
