import type { ScalewayAppleSiliconMachine } from '@tartan/api';
import { summaryHash } from '@tartan/host';
import type { Client, KubeObject, Live, Resource } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { coreKinds } from '@tartan/sim-fleet';
import type { HostSettings } from '../../packages/provider/src/host-work/host-settings.ts';
import { hostSpecOf } from '../../packages/provider/src/host-work/host-spec.ts';
import type { Captured, FleetTemplate } from './template.ts';

export const nameOfClone = (index: number): string => `mac-${String(index).padStart(5, '0')}`;
const serverOfClone = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const ipOfClone = (index: number): string => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

type Replacement = readonly [from: string, to: string];

/** The order matters: the address with the port is replaced before the address. */
const replacementsOf = (template: FleetTemplate, index: number): Replacement[] => [
  [template.machineName, nameOfClone(index)],
  [template.serverID, serverOfClone(index)],
  [template.ip, ipOfClone(index)],
  ['127.0.0.1', ipOfClone(index)],
];

const replaceAll = <T extends object>(object: T, replacements: readonly Replacement[]): T =>
  JSON.parse(replacements.reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(object))) as T;

/** Real machines do not change at the same moments: equal times would need less memory. Each clone is ten seconds older than the previous. */
const withOwnTimes = <T extends object>(object: T, index: number): T =>
  JSON.parse(
    JSON.stringify(object).replaceAll(/(?<=")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ(?=")/g, (time) =>
      timestamp(Date.parse(time) - index * 10_000),
    ),
  ) as T;

/** The servers at Scaleway, in the wire format. */
export const cloneServers = (template: FleetTemplate, count: number): object[] =>
  Array.from({ length: count }, (_, index) => replaceAll(template.server, replacementsOf(template, index)));

export interface CloneOptions {
  readonly client: Client;
  readonly template: FleetTemplate;
  readonly machines: number;
  /** Of the manager that is to find nothing to do. */
  readonly settings: HostSettings;
}

const connections = 16;

/** Writes so many settled machines, with all that belongs to them. */
export const writeFleet = async (options: CloneOptions): Promise<void> => {
  const { client, template, machines } = options;
  for (const { resource, object } of template.shared) {
    const isSized = resource === coreKinds.machineDeployments && ownsMachines(object, template);
    await write(client, { resource, object: isSized ? withReplicas(object, machines) : object });
  }
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < machines) await writeClone(options, next++);
  };
  await Promise.all(Array.from({ length: connections }, worker));
};

const ownsMachines = ({ metadata }: Live<KubeObject>, { machineName }: FleetTemplate): boolean =>
  machineName.startsWith(`${metadata.name}-`);

const withReplicas = (object: Live<KubeObject> & { spec?: object }, replicas: number): Live<KubeObject> => {
  const spec = { ...object.spec, replicas };
  return Object.assign(structuredClone(object), { spec });
};

/** Later objects refer to the UIDs of earlier ones. */
const writeClone = async ({ client, template, settings }: CloneOptions, index: number): Promise<void> => {
  const names = replacementsOf(template, index);
  const hash = hashOf(template, settings, names);
  const uids: Replacement[] = [];
  for (const { resource, object } of template.own) {
    const { uid } = await write(client, {
      resource,
      object: withOwnTimes(
        replaceAll(object, [...names, [template.hash, hash], ...uids, firstGeneration(object)]),
        index,
      ),
    });
    uids.push([object.metadata.uid, uid]);
  }
};

/** A created object has generation 1. */
const firstGeneration = ({ metadata }: Live<KubeObject>): Replacement => [
  `"observedGeneration":${metadata.generation}`,
  '"observedGeneration":1',
];

/** What the manager wants on the Mac: it differs from Mac to Mac by names. */
const hashOf = (template: FleetTemplate, settings: HostSettings, names: readonly Replacement[]): string => {
  const own = template.own.find(({ object }) => object.kind === 'ScalewayAppleSiliconMachine')?.object;
  if (own === undefined) throw new Error('the template has no machine');
  const { user, joinVersion } = template;
  const facts = { user, joinVersion, tailscaleKeyVersion: undefined };
  const specified = hostSpecOf(replaceAll(own as ScalewayAppleSiliconMachine, names), facts, settings);
  if (specified.kind === 'problem') throw new Error(specified.message);
  return summaryHash(specified.spec);
};

/** Creates the object, then writes its status. Returns its new UID. */
const write = async (client: Client, { resource, object }: Captured): Promise<{ uid: string }> => {
  const { metadata, ...rest } = object as Live<KubeObject> & { status?: object };
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = metadata;
  const { status, ...content } = rest;
  const wanted = {
    ...content,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ...(ownerReferences && { ownerReferences }),
    },
  };
  const { uid } = (await client.create(resource, wanted)).metadata;
  const at = { name, ...(namespace !== undefined && { namespace }) };
  if (status !== undefined && Object.keys(status).length > 0) await writeStatus(client, resource, at, status);
  return { uid };
};

const writeStatus = async (
  client: Client,
  resource: Resource<KubeObject>,
  at: { name: string; namespace?: string },
  status: object,
): Promise<void> => {
  await client.patch(resource, at, { type: 'merge', body: { status } }, { subresource: 'status' });
};
