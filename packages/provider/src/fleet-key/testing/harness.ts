import type { TestContext } from 'node:test';
import { macFleet, machine } from '@tartan/api';
import {
  createClient,
  createInformer,
  ignoreNotFound,
  type KubeObject,
  type Resource,
  secrets,
  type Transport,
} from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { createHostPool } from '@tartan/scaleway';
import { startScaleway } from '@tartan/sim-scaleway';
import { namespace, startKubernetes } from '../../claim/testing/harness.ts';
import { recordingLog } from '../../identity/testing/recording.ts';
import { createFleetKeys, type FleetKeysOptions } from '../controller.ts';
import { indexesOf } from '../../indexes.ts';

type Send = Transport['send'];

const account = {
  accessKey: 'SCWABCDEFGHIJKLMNOPQ',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
};

/** Machines on an embedded Kubernetes, on virtual time, and a simulated Scaleway over HTTP. */
export const createHarness = async (t: TestContext, permissions?: readonly string[]) => {
  const { transport, clock, close } = await startKubernetes();
  t.after(close);
  const scaleway = await startScaleway(permissions ? { permissions } : {});
  t.after(() => scaleway.stop());
  const client = createClient(transport, { clock });
  const secretName = (fleet: string) => ({ namespace, name: `${fleet}-ssh` });
  const text = (data: Record<string, string> | undefined, key: string): string =>
    Buffer.from(data?.[key] ?? '', 'base64').toString();
  const readSecret = async (fleet: string) => {
    const secret = await ignoreNotFound(client.get(secrets, secretName(fleet)));
    if (secret === undefined) return undefined;
    const { data, metadata } = secret;
    const [privateKey, publicKey] = [text(data, 'id_ed25519'), text(data, 'id_ed25519.pub')];
    return { privateKey, publicKey, keyID: metadata.annotations?.['scaleway.tuist.dev/ssh-key-id'], metadata };
  };
  return {
    client,
    clock,
    scaleway,
    readSecret,
    addMachine: (name: string, fleetName?: string) =>
      client.create(
        machine.resource,
        machine.make({ metadata: { name, namespace }, spec: fleetName ? { fleetName } : {} }),
      ),
    addFleet: (name: string, labels?: Record<string, string>) =>
      client.create(macFleet.resource, macFleet.make({ metadata: { name, namespace, ...(labels && { labels }) } })),
    removeMachine: (name: string) => client.delete(machine.resource, { namespace, name }),
    addSecret: (fleet: string, stringData: Record<string, string>) =>
      client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: secretName(fleet), stringData }),
    changeSecret: (fleet: string, body: object) => client.patch(secrets, secretName(fleet), { type: 'merge', body }),
    keysAtScaleway: () => scaleway.keys().map(({ name, publicKey, id }) => ({ id, name, publicKey })),
    pool: createHostPool({ ...account, apiURL: scaleway.url, maxAttempts: 1, rate: 1000 }),
    start: (more: Partial<FleetKeysOptions> = {}, between: (send: Send) => Send = (send) => send) =>
      startProcess({ transport: { ...transport, send: between(transport.send) }, clock, url: scaleway.url, more }),
  };
};

interface ProcessParts {
  readonly transport: Transport;
  readonly clock: Awaited<ReturnType<typeof startKubernetes>>['clock'];
  readonly url: string;
  readonly more: Partial<FleetKeysOptions>;
}

const startProcess = async ({ transport, clock, url, more }: ProcessParts) => {
  const client = createClient(transport, { clock });
  const { log, lines } = recordingLog();
  const cacheOf = <T extends KubeObject>(resource: Resource<T>) =>
    createInformer({ client, resource, indexes: indexesOf(resource), clock, log, random: () => 0.5 });
  const machines = cacheOf(machine.resource);
  const macFleets = cacheOf(macFleet.resource);
  const pool = createHostPool({ ...account, apiURL: url, maxAttempts: 1, rate: 1000, clock });
  const redacted: string[] = [];
  const redactor = { add: (value: string) => void redacted.push(value) };
  const keys = createFleetKeys({
    client,
    pool,
    machines,
    macFleets,
    clusters: { get: () => undefined },
    secretsNamespace: namespace,
    clock,
    log,
    redactor,
    ...more,
  });
  const heard: string[] = [];
  keys.subscribe((fleet) => heard.push(fleet));
  const stopping = new AbortController();
  const running = [machines.run(stopping.signal), macFleets.run(stopping.signal)];
  await Promise.all([machines.synced, macFleets.synced]);
  running.push(keys.controller.run(stopping.signal));
  return {
    keys,
    lines,
    heard,
    redacted,
    is: (fleet: string, kind: string) =>
      eventually(`the key of ${fleet} is ${kind}`, () => keys.of(fleet).kind === kind),
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
};
