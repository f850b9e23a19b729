import {
  annotations,
  cluster,
  externalControlPlane,
  machine,
  macFleet,
  macHost,
  machineTemplate,
  remoteServiceAccount,
  secretKeys,
  secretNames,
} from '@tartan/api';
import {
  type Client,
  type KubeObject,
  leases,
  type Live,
  nodes,
  type Resource,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { sleep, systemClock } from '@tartan/kube/clock';
import { coreKinds, fleetNamespace as namespace, startSimulation, untilMachinesReady } from '@tartan/sim-fleet';

export interface Captured {
  readonly resource: Resource<KubeObject>;
  readonly object: Live<KubeObject>;
}

/** A settled machine, as a simulated fleet has brought it up with a real agent. */
export interface FleetTemplate {
  readonly machineName: string;
  readonly serverID: string;
  /** With a port: all simulated Macs are on this host. */
  readonly ip: string;
  readonly hash: string;
  readonly user: string;
  readonly joinVersion: string;
  /** The objects of the machine; a later one may refer to the UID of an earlier one. */
  readonly own: readonly Captured[];
  /** The objects that all machines share. */
  readonly shared: readonly Captured[];
  /** Answers of Scaleway. */
  readonly server: object;
  readonly keys: object;
}

const patienceMs = 240_000;
const captured = (resource: Resource<KubeObject>, object: Live<KubeObject>): Captured => ({ resource, object });

/** Brings one machine up in a simulated fleet, and takes its objects and those around it. */
export const captureFleet = async (folder: string, flags: readonly string[]): Promise<FleetTemplate> => {
  const simulation = await startSimulation({ folder, pool: 1, fleets: { macos: 1, runners: 0 }, pace: 0.01, flags });
  try {
    const { client } = simulation.controlPlane;
    const patience = AbortSignal.timeout(patienceMs);
    if (!(await Promise.race([untilMachinesReady(client, 1, patience), simulation.failure])))
      throw new Error('the machine of the simulated fleet did not become Ready');
    await untilSettled(client, patience);
    const { environment } = simulation.macs;
    const projectID = environment['SCW_DEFAULT_PROJECT_ID'] ?? '';
    return await capture(client, (path) => askScaleway(environment, path), projectID);
  } finally {
    await simulation.stop();
  }
};

/** The Mac has its own certificate, its join token is gone, and its agent reports what is wanted. */
const untilSettled = async (client: Client, patience: AbortSignal): Promise<void> => {
  for (;;) {
    const { items } = await client.list(machine.resource, { namespace });
    const [{ metadata, status } = { metadata: undefined, status: undefined }] = items;
    const node = metadata && (await client.get(nodes, { name: metadata.name }));
    const hash = node?.metadata.annotations?.[annotations.hostConfigHash];
    if (status?.joinTokenID === undefined && hash !== undefined && status?.desiredHostConfigHash === hash) return;
    if (patience.aborted)
      throw new Error(`the machine of the simulated fleet did not settle: ${JSON.stringify(status)}`);
    await sleep(systemClock, 500);
  }
};

const askScaleway = async (environment: Readonly<Record<string, string>>, path: string): Promise<object> => {
  const answer = await fetch(`${environment['SCW_API_URL']}${path}`, {
    headers: { 'x-auth-token': environment['SCW_SECRET_KEY'] ?? '' },
  });
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as object;
};

const capture = async (
  client: Client,
  ask: (path: string) => Promise<object>,
  projectID: string,
): Promise<FleetTemplate> => {
  const all = async <T extends KubeObject>(
    resource: Resource<T>,
    wanted: (name: string) => boolean = () => true,
  ): Promise<Captured[]> =>
    (await client.list(resource, resource.namespaced ? { namespace } : {})).items
      .filter(({ metadata }) => wanted(metadata.name))
      .map((object) => captured(resource, object));
  const [found] = (await client.list(machine.resource, { namespace })).items;
  if (found === undefined) throw new Error('the simulated fleet has no machine');
  const name = found.metadata.name;
  const { serverID = '', desiredHostConfigHash: hash = '', joinVersion = '' } = found.status ?? {};
  const host = await client.get(macHost.resource, { name: serverID });
  const secret = await client.get(secrets, { namespace, name: secretNames.machine(name) });
  const lease = await client.get(leases, { namespace: 'kube-node-lease', name });
  const isShared = (each: string): boolean => each !== secret.metadata.name;
  return {
    machineName: name,
    serverID,
    ip: host.status?.ip ?? '',
    hash,
    user: Buffer.from(secret.data?.[secretKeys.machine.username] ?? '', 'base64').toString(),
    joinVersion,
    own: [
      ...(await all(coreKinds.machines, (each) => each === name)),
      captured(machine.resource, found),
      captured(macHost.resource, host),
      captured(secrets, secret),
      captured(nodes, await client.get(nodes, { name })),
      captured(leases, lease),
    ],
    shared: [
      ...(await all(serviceAccounts, (each) => each === remoteServiceAccount)),
      ...(await all(secrets, isShared)),
      ...(await all(coreKinds.clusters)),
      ...(await all(cluster.resource)),
      ...(await all(externalControlPlane.resource)),
      ...(await all(machineTemplate.resource)),
      ...(await all(coreKinds.machineDeployments)),
      ...(await all(macFleet.resource)),
    ],
    server: await ask(`/apple-silicon/v1alpha1/zones/${host.spec.zone}/servers/${serverID}`),
    keys: await ask(`/iam/v1alpha1/ssh-keys?page=1&page_size=100&project_id=${projectID}`),
  };
};
