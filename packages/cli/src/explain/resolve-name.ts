import { keyOf } from '@tartan/kube';
import { similarity } from '@tartan/kube/flags';
import type { ClusterState, Fleet, Host, Machine, Node, Pod } from '../cluster/state.ts';
import type { Pool } from '../runners/read-runners.ts';
import { NotDoneError } from '../shell.ts';

interface ObjectsByKind {
  machine: Machine;
  host: Host;
  node: Node;
  pod: Pod;
  fleet: Fleet;
  runnerpool: Pool;
}

type Kind = keyof ObjectsByKind;

export type Subject = { [Each in Kind]: { readonly kind: Each; readonly object: ObjectsByKind[Each] } }[Kind];

type SearchedState = ClusterState & { readonly runnerPools?: readonly Pool[] };

/** Names of kinds, and the short names that kubectl accepts. */
const kindWords: Readonly<Record<string, Kind>> = {
  machine: 'machine',
  samm: 'machine',
  scalewayapplesiliconmachine: 'machine',
  host: 'host',
  mac: 'host',
  machost: 'host',
  node: 'node',
  no: 'node',
  pod: 'pod',
  po: 'pod',
  fleet: 'fleet',
  macfleet: 'fleet',
  rpool: 'runnerpool',
  runnerpool: 'runnerpool',
};

/** The explanation of a machine covers its Mac and its Node, so machines come first. */
const kindPriority: readonly Kind[] = ['machine', 'host', 'node', 'pod', 'fleet', 'runnerpool'];

/** `machine/default/mac-1`, as `explain` accepts it. */
export const nameOf = ({ kind, object }: Subject): string => `${kind}/${keyOf(object.metadata)}`;

/**
 * Finds an object by name: `mac-1`, `pod/build-1`, `default/build-1`, `pod/default/build-1`, a server ID or its beginning (tables cut
 * it), or the name of the server at Scaleway. Rejects a name that no object has, or several of a kind. Pure.
 */
export const resolveName = (
  asked: string,
  state: SearchedState,
  namespace?: string,
): { readonly subject: Subject; readonly others: readonly Subject[] } => {
  const parts = asked.replace(/…$/, '').split('/');
  const first = kindWords[(parts[0] ?? '').toLowerCase().replace(/s$/, '')];
  const kind = parts.length > 1 ? first : undefined;
  const rest = kind === undefined ? parts : parts.slice(1);
  const name = rest.at(-1) ?? '';
  const where = rest.length > 1 ? rest[0] : namespace;
  const all = allSubjects(state).filter(
    (subject) =>
      (kind === undefined || subject.kind === kind) &&
      (!where || !subject.object.metadata.namespace || subject.object.metadata.namespace === where),
  );
  const exact = all.filter((subject) => hasName(subject, name));
  const hits =
    exact.length > 0 || name.length < minPrefixLength
      ? exact
      : all.filter(({ object }) => object.metadata.name.startsWith(name));
  const [subject, ...others] = hits.sort((a, b) => kindPriority.indexOf(a.kind) - kindPriority.indexOf(b.kind));
  const failure = (why: string): Error => new NotDoneError([why, ...state.notes].join(' '));
  if (subject === undefined) throw failure(notFoundMessage(asked, all, name));
  const sameKind = others.filter((other) => other.kind === subject.kind);
  if (sameKind.length > 0)
    throw failure(
      `${asked} is ambiguous: ${[subject, ...sameKind].slice(0, maxShown).map(nameOf).join(', ')}${sameKind.length >= maxShown ? ', …' : ''}. Use one of these names.`,
    );
  return { subject, others: others.filter((other) => !isSameMachine(subject, other)) };
};

/** Shorter prefixes match too many IDs. */
const minPrefixLength = 4;
const maxShown = 10;

const allSubjects = ({ machines, hosts, nodes, pods, fleets, runnerPools = [] }: SearchedState): Subject[] => [
  ...machines.map((object) => ({ kind: 'machine' as const, object })),
  ...hosts.map((object) => ({ kind: 'host' as const, object })),
  ...nodes.map((object) => ({ kind: 'node' as const, object })),
  ...(pods ?? []).map((object) => ({ kind: 'pod' as const, object })),
  ...fleets.map((object) => ({ kind: 'fleet' as const, object })),
  ...runnerPools.map((object) => ({ kind: 'runnerpool' as const, object })),
];

const hasName = ({ kind, object }: Subject, name: string): boolean =>
  object.metadata.name === name || (kind === 'host' && object.status?.name === name);

/** The explanation of a machine covers its Mac and its Node. */
const isSameMachine = (subject: Subject, other: Subject): boolean =>
  subject.kind === 'machine' &&
  (other.kind === 'node' ||
    (other.kind === 'host' && other.object.spec.consumerRef?.uid === subject.object.metadata.uid));

const notFoundMessage = (asked: string, all: readonly Subject[], name: string): string => {
  const similarityOf = ({ object }: Subject): number => similarity(object.metadata.name, name);
  const close = all
    .filter((subject) => similarityOf(subject) > 0.6)
    .toSorted((a, b) => similarityOf(b) - similarityOf(a))
    .slice(0, 3)
    .map(nameOf);
  const hint = close.length > 0 ? ` Did you mean ${close.join(' or ')}?` : ' tartan fleet lists all machines and Macs.';
  return `No machine, MacHost, Node, Pod, MacFleet or RunnerPool has the name ${asked}.${hint}`;
};
