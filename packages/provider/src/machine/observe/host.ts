import { type MacHost, parseProviderID } from '@tartan/api';
import { type HostSecrets, type HostSpec, summaryHash } from '@tartan/host';
import { type CallOptions, type Client, keyOf } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { ScalewayError } from '@tartan/scaleway';
import { chooseHost, claimBlockedBy, type HostRequirements } from '../../claim/choose-host.ts';
import type { Release } from '../../claim/claim-host.ts';
import type { HostOffers } from '../../claim/host-offers.ts';
import type { Host, Listers, Machine } from '../../controller-deps.ts';
import { hostSpecOf } from '../../host-work/host-spec.ts';
import { type MachineSecret, readTailscaleKey } from '../../host-work/secrets.ts';
import { hardwareKey } from '../../indexes.ts';
import { abandonReason } from '../../mac-host/snapshot.ts';
import { wipeOf } from '../../mac-host/wipe.ts';
import { waitingSince } from '../machine.ts';
import type { MachineControllerOptions } from '../options.ts';
import type { ChoiceFacts, HostFacts } from '../snapshot.ts';

/** What a MacHost means for one machine. */
export const hostFacts = (host: Host, machine: Machine) => {
  const { consumerRef, release, reboot, poolPrefix } = host.spec;
  const { claim, name, state, serverStatus, installs = 0, wipe, rebootIssuedAt } = host.status ?? {};
  const nameMatches = name === machine.metadata.name;
  const isMine = consumerRef?.uid === machine.metadata.uid;
  const holder: Holder = consumerRef === undefined ? 'nobody' : isMine ? 'me' : 'other';
  return {
    kind: 'present' as const,
    holder,
    /** Being released; `begun`: the disk is being erased, `stuck`: Scaleway has not done that for long. */
    release: release && { begun: wipeStarted(wipe, release.requestedAt), stuck: wipeStuck(host, release) },
    /** A user has annotated it as abandoned. */
    abandoned: abandonReason(host) !== undefined,
    /** Scaleway no longer knows the server. */
    gone: isGone(host),
    /** It has the machine's name at Scaleway, confirmed. */
    nameVerified: nameMatches && claim?.uid === machine.metadata.uid && claim.settledAt !== undefined,
    /** The same by the last list, unconfirmed. */
    nameMatches,
    /** `spec.providerID` of the machine names this server. */
    providerIDMatches: parseProviderID(machine.spec.providerID ?? '')?.serverID === host.metadata.name,
    inPool: state === 'pool',
    /** `ready` or another state at Scaleway; undefined: never seen. */
    serverStatus,
    installs,
    poolPrefix: poolPrefix || undefined,
    rebootRequestedAt: parseTime(reboot?.requestedAt),
    rebootIssuedAt: parseTime(rebootIssuedAt),
    /** The situation of the host, for users. */
    message: hostSituation(host, holder),
  };
};

export type PresentHost = Readonly<ReturnType<typeof hostFacts>>;
type Holder = 'me' | 'nobody' | 'other';

const isGone = ({ status }: MacHost): boolean => status?.gone === true;

/** The wipe of an earlier release does not count. */
const wipeStarted = (wipe: NonNullable<MacHost['status']>['wipe'], requestedAt: string): boolean =>
  wipe?.reinstallingAt !== undefined && Date.parse(wipe.reinstallingAt) >= Date.parse(requestedAt);

const wipeStuck = ({ status = {} }: MacHost, release: Release): boolean =>
  wipeOf(release, status)?.stuckAt !== undefined;

const parseTime = (time: string | undefined): number | undefined => {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? undefined : at;
};

const hostSituation = (host: Host, holder: Holder): string => {
  const { metadata, spec, status } = host;
  const server = `The server ${metadata.name}`;
  if (isGone(host)) return `${server} is gone at Scaleway.`;
  const abandoned = abandonReason(host);
  if (abandoned !== undefined)
    return `A person has abandoned the server ${metadata.name} (${abandoned}). Nothing is done to it. Delete the Machine to get another one.`;
  if (spec.release !== undefined)
    return `${server} is being released to the pool. See the condition Wiped of its MacHost.`;
  if (holder === 'other') return `${server} is held by ${spec.consumerRef?.namespace}/${spec.consumerRef?.name}.`;
  if (holder === 'nobody') return `${server} is held by nobody (${status?.state ?? 'not looked at yet'}).`;
  return `${server} is being renamed. If that lasts, see the condition Named of its MacHost.`;
};

/** Without a MacHost only Scaleway knows whether the server exists and will get one again. */
export const findServer = async (
  { pool }: Pick<MachineControllerOptions, 'pool'>,
  { spec, status }: Machine,
  call: CallOptions,
): Promise<HostFacts> => {
  const serverID = status?.serverID ?? '';
  const absent = (server: 'exists' | 'gone' | 'unknown', message: string): HostFacts => ({
    kind: 'absent',
    server,
    message,
  });
  try {
    await pool.getServer(spec.zone, serverID, call);
    return absent('exists', `There is no MacHost ${serverID}. The inventory makes it again.`);
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    if (error.kind === 'not found') return absent('gone', `The server ${serverID} is gone at Scaleway.`);
    return absent('unknown', `There is no MacHost ${serverID}, and Scaleway could not be asked: ${error.message}`);
  }
};

interface ChoiceSources {
  readonly macHosts: Listers['macHosts'];
  readonly machines: Pick<Listers['machines'], 'byIndex'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether another pass is about to reserve that Mac. */
  readonly isOfferedToOther?: (serverID: string) => boolean;
}

export const hostRequirements = (
  { metadata, spec }: Machine,
  defaultPrefix: string | undefined,
  recordedServer?: string,
): HostRequirements => ({
  name: metadata.name,
  uid: metadata.uid,
  zone: spec.zone,
  type: spec.type,
  os: spec.os,
  poolPrefix: spec.adoptPoolPrefix || defaultPrefix || '',
  recordedServer,
});

/** Which Mac the machine would reserve now. */
export const choiceFacts = (
  { macHosts, machines, clock, isOfferedToOther = () => false }: ChoiceSources,
  machine: Machine,
  wanted: HostRequirements,
): [ChoiceFacts, Host | undefined] => {
  const { metadata } = machine;
  const mayHave = mayHaveFor(machine);
  const bound = boundServer(machine);
  const recorded = wanted.recordedServer === undefined ? undefined : macHosts.get(wanted.recordedServer);
  const pool = macHosts.byIndex('pool', hardwareKey(wanted.zone, wanted.type));
  const candidates = new Set([...macHosts.byIndex('consumer', metadata.uid), ...(recorded ? [recorded] : []), ...pool]);
  const choice = chooseHost(wanted, {
    candidates: [...candidates].filter(mayHave),
    hosts: () => (bound === undefined ? pool : [macHosts.get(bound) ?? []].flat()).filter(mayHave),
    counts: () => (bound === undefined ? macHosts.countByIndex('summary') : new Map()),
    isReservedByOther: (id) =>
      isOfferedToOther(id) || machines.byIndex('serverID', id).some((other) => other.metadata.uid !== metadata.uid),
    now: clock.now(),
  });
  if (choice.kind === 'chosen') return [{ kind: 'chosen', serverID: choice.host.metadata.name }, choice.host];
  const namesake = wanted.recordedServer === undefined && macHosts.byIndex('serverName', metadata.name).find(mayHave);
  const message = namesake ? `${choice.message} ${notAdoptedMessage(namesake.metadata.name)}` : choice.message;
  return [{ kind: 'none', message }, undefined];
};

/** Cluster API knows the server of a machine with a providerID, so it can no longer choose. Empty: that is no server of Scaleway. */
const boundServer = ({ spec }: Machine): string | undefined =>
  spec.providerID ? (parseProviderID(spec.providerID)?.serverID ?? '') : undefined;

const mayHaveFor = (machine: Machine): ((host: Host) => boolean) => {
  const bound = boundServer(machine);
  return (host) => !isGone(host) && (bound === undefined || host.metadata.name === bound);
};

/** `choiceFacts` for a pass: no other pass chooses the same Mac meanwhile, and without a free Mac the machine waits for one. */
export const choiceForPass = (
  sources: Omit<ChoiceSources, 'isOfferedToOther'> & { readonly hostOffers: HostOffers },
  machine: Machine,
  wanted: HostRequirements,
): [ChoiceFacts, Host | undefined] => {
  const { hostOffers, clock } = sources;
  const key = keyOf(machine.metadata);
  const isOfferedToOther = (serverID: string): boolean => hostOffers.isOfferedToOther(serverID, key);
  const [choice, host] = choiceFacts({ ...sources, isOfferedToOther }, machine, wanted);
  if (host !== undefined) hostOffers.choose(key, host.metadata.name);
  else {
    const { zone, type, os, poolPrefix, recordedServer = '' } = wanted;
    const mayHave = mayHaveFor(machine);
    hostOffers.wait(key, {
      since: waitingSince(machine) ?? clock.now(),
      group: [zone, type, os, poolPrefix, recordedServer, machine.spec.providerID ?? ''].join(' '),
      fits: (each) => mayHave(each) && claimBlockedBy(wanted, each, clock.now()) === undefined,
    });
  }
  return [choice, host];
};

const notAdoptedMessage = (serverID: string): string =>
  `The server ${serverID} has the name of this machine, but there is no record that the machine holds it: it is neither adopted nor wiped. Look at who uses it.`;

export type HostPlan =
  | {
      readonly kind: 'planned';
      readonly spec: HostSpec;
      readonly hash: string;
      /** Without the join credentials, which are created when needed. */
      readonly secrets: HostSecrets;
    }
  | {
      readonly kind: 'problem';
      readonly outcome: 'TailscaleAuthKeyUnavailable' | 'InvalidSpec';
      readonly message: string;
    };

/** The desired state of the Mac, the same for first boot and roll, so that neither can lose a part of it (INC-237). */
export const planHost = async (
  {
    client,
    settings,
    options,
    redactor,
  }: Pick<MachineControllerOptions, 'settings' | 'options' | 'redactor'> & { readonly client: Pick<Client, 'get'> },
  machine: Machine,
  { login, joinVersion }: { login: MachineSecret; joinVersion: string },
  call: CallOptions,
): Promise<HostPlan> => {
  const { tailscale } = settings;
  const where = tailscale && { namespace: options.secretsNamespace, name: tailscale.authKeySecretName };
  const key = where && (await readTailscaleKey(client, where, call));
  if (key?.kind === 'problem') return { kind: 'problem', outcome: 'TailscaleAuthKeyUnavailable', message: key.message };
  const facts = { user: login.username, joinVersion, tailscaleKeyVersion: key?.version };
  const specified = hostSpecOf(machine, facts, settings);
  if (specified.kind === 'problem') return { kind: 'problem', outcome: 'InvalidSpec', message: specified.message };
  const password = login.password?.reveal();
  const authKey = key?.key.reveal();
  for (const secret of [password, authKey]) if (secret) redactor.add(secret);
  return {
    kind: 'planned',
    spec: specified.spec,
    hash: summaryHash(specified.spec),
    secrets: { ...(password && { userPassword: password }), ...(authKey && { tailscaleAuthKey: authKey }) },
  };
};
