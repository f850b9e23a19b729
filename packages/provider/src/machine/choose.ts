import { type MacHost, parseProviderID, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Live, WatchCache } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { chooseHost, type Wanted } from '../claim/index.ts';
import { isGone } from './host-facts.ts';
import type { Machine } from './record.ts';
import type { ChoiceFacts } from './snapshot.ts';

/** What a choice is made of. */
interface Shown {
  readonly macHosts: Pick<WatchCache<MacHost>, 'list'>;
  readonly machines: Pick<WatchCache<ScalewayAppleSiliconMachine>, 'list'>;
  readonly clock: Pick<Clock, 'now'>;
}

export const wantedOf = (
  { metadata, spec }: Machine,
  defaultPrefix: string | undefined,
  recordedServer?: string,
): Wanted => ({
  name: metadata.name,
  uid: metadata.uid,
  zone: spec.zone,
  type: spec.type,
  os: spec.os,
  poolPrefix: spec.adoptPoolPrefix || defaultPrefix || '',
  recordedServer,
});

/** Which Mac the machine would reserve now. */
export const choose = (
  { macHosts, machines, clock }: Shown,
  { metadata, spec }: Machine,
  wanted: Wanted,
): [ChoiceFacts, Live<MacHost> | undefined] => {
  // Whoever has told Cluster API its server has no choice any more.
  const told = spec.providerID ? parseProviderID(spec.providerID) : undefined;
  const hosts = macHosts
    .list()
    .filter((host) => !isGone(host) && (!spec.providerID || host.metadata.name === told?.serverID));
  const others = machines.list().filter((other) => other.metadata.uid !== metadata.uid);
  const reservedByOthers = new Set(others.flatMap(({ status }) => status?.serverID ?? []));
  const choice = chooseHost(wanted, { hosts, reservedByOthers, now: clock.now() });
  if (choice.kind === 'chosen') return [{ kind: 'chosen', serverID: choice.host.metadata.name }, choice.host];
  const stranger = wanted.recordedServer === undefined && hosts.find(({ status }) => status?.name === metadata.name);
  const message = stranger ? `${choice.message} ${notAdopted(stranger.metadata.name)}` : choice.message;
  return [{ kind: 'none', message }, undefined];
};

const notAdopted = (serverID: string): string =>
  `The server ${serverID} bears the name of this machine, but there is no record that the machine holds it: it is neither adopted nor wiped. Look at who uses it.`;
