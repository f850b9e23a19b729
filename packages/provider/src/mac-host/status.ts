import type { MacHost, MacHostStatus } from '@tartan/api';
import { type Condition, type Live, setCondition } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { conditionsOf, type JudgeStranded, type Trouble } from './conditions.ts';
import type { Snapshot } from './snapshot.ts';
import { stateOf } from './state.ts';

/** The whole status of a MacHost: what is remembered stays, everything else follows from the snapshot. */
export const statusOf = (
  { metadata, status: said }: Live<MacHost>,
  snapshot: Snapshot,
  judge: JudgeStranded,
  trouble?: Trouble,
): MacHostStatus => {
  const { spec, status, now } = snapshot;
  const { state: _, since: __, heldBy: ___, wipe, claim, ...kept } = status;
  const observed = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  const state = stateOf(snapshot);
  const heldBy = heldByOf(snapshot, state);
  const conditions = conditionsOf(snapshot, judge, trouble).reduce<readonly Condition[]>(
    (before, update) => setCondition(before, { ...update, ...observed }, now),
    status.conditions ?? [],
  );
  return {
    ...kept,
    ...factsOf(snapshot),
    ...(state === undefined ? {} : { state, since: state === said?.state && said.since ? said.since : timestamp(now) }),
    ...(heldBy === undefined ? {} : { heldBy }),
    ...(claim && claim.uid === spec.consumerRef?.uid ? { claim } : {}),
    // Of a release that is over nobody needs to know how it went.
    ...(spec.release && wipe ? { wipe } : {}),
    conditions,
    ...observed,
  };
};

/** What Scaleway does not say any more stays as it was said last. */
const factsOf = ({ server }: Snapshot): Partial<MacHostStatus> => {
  if (server.kind !== 'seen') return {};
  const { name, type, os, status, ip } = server.server;
  return {
    name: cut(name, 253),
    type: cut(type, 63),
    ...(os ? { osFamily: cut(os.family, 63), osImage: cut(os.name, 253) } : {}),
    serverStatus: cut(status, 63),
    ip: cut(ip, 45),
  };
};

/** The schema's bounds: a name that somebody made longer must not make the status unwritable. */
const cut = (text: string, longest: number): string => text.slice(0, longest);

const heldByOf = ({ spec, claimants }: Snapshot, state: MacHostStatus['state']): string | undefined => {
  if (state !== 'held') return undefined;
  if (spec.consumerRef) return `${spec.consumerRef.namespace}/${spec.consumerRef.name}`;
  return claimants.find(({ by }) => by === 'serverID')?.key;
};
