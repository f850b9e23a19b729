import { type MacHost, parseProviderID } from '@tartan/api';
import { type CallOptions, getCondition, isTrue, type Live } from '@tartan/kube';
import { ScalewayError } from '@tartan/scaleway';
import type { Release } from '../claim/index.ts';
import { abandonedBecause } from '../mac-host/abandoned.ts';
import { wipeOf } from '../mac-host/wipe.ts';
import type { MachineControllerOptions } from './options.ts';
import type { Machine } from './record.ts';
import type { HostFacts } from './snapshot.ts';

/** What a MacHost says, as far as one machine is concerned. */
export const hostFacts = (host: Live<MacHost>, machine: Machine): HostFacts => {
  const { consumerRef, release, reboot, poolPrefix } = host.spec;
  const { conditions, name, state, serverStatus, installs = 0, wipe, rebootIssuedAt } = host.status ?? {};
  const bearsMyName = name === machine.metadata.name;
  const holder = consumerRef === undefined ? 'nobody' : consumerRef.uid === machine.metadata.uid ? 'me' : 'other';
  return {
    kind: 'present',
    holder,
    release: release && { begun: hasBegun(wipe, release.requestedAt), stuck: isStuck(host, release) },
    abandoned: abandonedBecause(host) !== undefined,
    gone: isGone(host),
    named: bearsMyName && isTrue(conditions, 'Named'),
    bearsMyName,
    boundToMe: parseProviderID(machine.spec.providerID ?? '')?.serverID === host.metadata.name,
    inPool: state === 'pool',
    serverStatus,
    installs,
    poolPrefix: poolPrefix || undefined,
    rebootRequestedAt: timeOf(reboot?.requestedAt),
    rebootIssuedAt: timeOf(rebootIssuedAt),
    message: situation(host, holder),
  };
};

/** Scaleway was asked for it, and does not know it any more. */
export const isGone = ({ status }: MacHost): boolean => getCondition(status?.conditions, 'Listed')?.reason === 'Gone';

/** The wipe of an earlier release says nothing about this one. */
const hasBegun = (wipe: NonNullable<MacHost['status']>['wipe'], requestedAt: string): boolean =>
  wipe?.reinstallingAt !== undefined && Date.parse(wipe.reinstallingAt) >= Date.parse(requestedAt);

const isStuck = ({ status = {} }: MacHost, release: Release): boolean => wipeOf(release, status)?.stuckAt !== undefined;

const timeOf = (time: string | undefined): number | undefined => {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? undefined : at;
};

const situation = (host: Live<MacHost>, holder: 'me' | 'nobody' | 'other'): string => {
  const { metadata, spec, status } = host;
  const server = `The server ${metadata.name}`;
  if (isGone(host)) return `${server} is gone at Scaleway.`;
  const abandoned = abandonedBecause(host);
  if (abandoned !== undefined)
    return `A person has abandoned the server ${metadata.name} (${abandoned}). Nothing is done to it. Delete the Machine to get another one.`;
  if (spec.release !== undefined) {
    const wiped = getCondition(status?.conditions, 'Wiped');
    return `${server} is on its way back to the pool.${wiped ? ` ${wiped.message}` : ''}`;
  }
  if (holder === 'other') return `${server} is held by ${spec.consumerRef?.namespace}/${spec.consumerRef?.name}.`;
  if (holder === 'nobody') return `${server} is held by nobody (${status?.state ?? 'not looked at yet'}).`;
  const named = getCondition(status?.conditions, 'Named');
  return `${server} is being renamed.${named?.status === 'False' ? ` ${named.message}` : ''}`;
};

/** There is no MacHost: only Scaleway can say whether there will be one again. */
export const lookForServer = async (
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
