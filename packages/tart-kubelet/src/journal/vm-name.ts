const uidPattern = /^[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?$/;

/** Of the whole name; tart has no limit, but the name is a folder's and shows in many places. */
const mostCharacters = 100;

/**
 * The name of a Pod's virtual machine: people recognise the Pod, and the UID makes it nobody else's. A later Pod of the same name gets
 * another one, and so never the disk of this one (G7, INC-25). `undefined` for what is no UID: it must not become a path.
 */
export const vmNameOf = (pod: {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}): string | undefined => {
  if (!uidPattern.test(pod.uid)) return undefined;
  const readable = `${pod.namespace}-${pod.name}`.replaceAll(/[^A-Za-z0-9-]/g, '-').replace(/^-+/, '');
  const head = readable.slice(0, mostCharacters - pod.uid.length - 1);
  return head === '' ? pod.uid : `${head}-${pod.uid}`;
};
