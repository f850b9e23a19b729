import { keyOf } from '@tartan/kube';
import { similarity } from '@tartan/kube/flags';
import type { ClusterState, Fleet, Host, Machine, Node, Pod } from '../cluster/state.ts';
import type { Pool } from '../runners/read-runners.ts';

export type Subject =
  | { readonly kind: 'machine'; readonly machine: Machine }
  | { readonly kind: 'host'; readonly host: Host }
  | { readonly kind: 'node'; readonly node: Node }
  | { readonly kind: 'pod'; readonly pod: Pod }
  | { readonly kind: 'fleet'; readonly fleet: Fleet }
  | { readonly kind: 'runnerpool'; readonly pool: Pool };

type Kind = Subject['kind'];

export type ResolvedName =
  | { readonly kind: 'found'; readonly subject: Subject; readonly others: readonly Subject[] }
  | { readonly kind: 'not found'; readonly why: string };

/** What names are looked for in. */
type SearchedState = ClusterState & { readonly runnerPools?: readonly Pool[] };

/** What people call a kind, as kubectl knows it too. */
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

/** Where the whole story is told comes first: a machine tells of its Mac and its Node. */
const kindPriority: readonly Kind[] = ['machine', 'host', 'node', 'pod', 'fleet', 'runnerpool'];

const objectOf = (subject: Subject): Machine | Host | Node | Pod | Fleet | Pool => {
  switch (subject.kind) {
    case 'machine':
      return subject.machine;
    case 'host':
      return subject.host;
    case 'node':
      return subject.node;
    case 'pod':
      return subject.pod;
    case 'fleet':
      return subject.fleet;
    case 'runnerpool':
      return subject.pool;
  }
};

/** `machine/default/mac-1`, to be typed again. */
export const nameOf = (subject: Subject): string => `${subject.kind}/${keyOf(objectOf(subject).metadata)}`;

/**
 * Finds what somebody means by a name: `mac-1`, `pod/build-1`, `default/build-1`, `pod/default/build-1`, a server's id or its beginning
 * (tables may have cut it), or its name at Scaleway. Pure.
 */
export const resolveName = (asked: string, world: SearchedState, namespace?: string): ResolvedName => {
  const parts = asked.replace(/…$/, '').split('/');
  const first = kindWords[(parts[0] ?? '').toLowerCase().replace(/s$/, '')];
  const kind = parts.length > 1 ? first : undefined;
  const rest = kind === undefined ? parts : parts.slice(1);
  const name = rest.at(-1) ?? '';
  const where = rest.length > 1 ? rest[0] : namespace;
  const fits = (subject: Subject): boolean => {
    const { metadata } = objectOf(subject);
    return (
      (kind === undefined || subject.kind === kind) && (!where || !metadata.namespace || metadata.namespace === where)
    );
  };
  const all = allSubjects(world).filter(fits);
  const exact = all.filter((subject) => hasName(subject, name));
  const hits =
    exact.length > 0 || name.length < minPrefixLength ? exact : all.filter((subject) => startsWithName(subject, name));
  const [subject, ...others] = hits.sort((a, b) => kindPriority.indexOf(a.kind) - kindPriority.indexOf(b.kind));
  if (subject === undefined) return { kind: 'not found', why: notFoundMessage(asked, all, name) };
  const twins = others.filter((other) => other.kind === subject.kind);
  if (twins.length > 0)
    return {
      kind: 'not found',
      why: `${asked} may be any of these: ${[subject, ...twins].slice(0, maxShown).map(nameOf).join(', ')}${twins.length >= maxShown ? ', …' : ''}. Name one of them.`,
    };
  return { kind: 'found', subject, others: others.filter((other) => !isSameMachine(subject, other)) };
};

/** Fewer letters begin too many ids. */
const minPrefixLength = 4;
const maxShown = 10;

const allSubjects = ({ machines, hosts, nodes, pods, fleets, runnerPools = [] }: SearchedState): Subject[] => [
  ...machines.map((machine): Subject => ({ kind: 'machine', machine })),
  ...hosts.map((host): Subject => ({ kind: 'host', host })),
  ...nodes.map((node): Subject => ({ kind: 'node', node })),
  ...(pods ?? []).map((pod): Subject => ({ kind: 'pod', pod })),
  ...fleets.map((fleet): Subject => ({ kind: 'fleet', fleet })),
  ...runnerPools.map((pool): Subject => ({ kind: 'runnerpool', pool })),
];

const hasName = (subject: Subject, name: string): boolean =>
  objectOf(subject).metadata.name === name || (subject.kind === 'host' && subject.host.status?.name === name);

const startsWithName = (subject: Subject, name: string): boolean => objectOf(subject).metadata.name.startsWith(name);

/** A machine, the Mac that bears its name and the Node of that name are one story. */
const isSameMachine = (subject: Subject, other: Subject): boolean =>
  subject.kind === 'machine' &&
  (other.kind === 'node' ||
    (other.kind === 'host' && other.host.spec.consumerRef?.uid === subject.machine.metadata.uid));

const notFoundMessage = (asked: string, all: readonly Subject[], name: string): string => {
  const similarityOf = (subject: Subject): number => similarity(objectOf(subject).metadata.name, name);
  const close = all
    .filter((subject) => similarityOf(subject) > 0.6)
    .toSorted((a, b) => similarityOf(b) - similarityOf(a))
    .slice(0, 3)
    .map(nameOf);
  const hint = close.length > 0 ? ` Did you mean ${close.join(' or ')}?` : ' tartan fleet shows what there is.';
  return `Nothing is called ${asked}: no machine, MacHost, Node, Pod, MacFleet or RunnerPool.${hint}`;
};
