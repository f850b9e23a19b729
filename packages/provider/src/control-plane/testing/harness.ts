import type { TestContext } from 'node:test';
import { annotations, externalControlPlane, secretKeys } from '@tartan/api';
import {
  createEventRecorder,
  createSubresources,
  events,
  getCondition,
  ignoreNotFound,
  type ObjectMeta,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { clusters, createHarness as createClusterHarness, namespace } from '../../cluster/testing/harness.ts';
import { createControlPlaneController } from '../controller.ts';

const secretName = { namespace, name: 'macs-kubeconfig' };
const controlPlaneName = { namespace, name: 'macs' };

/** A kubeconfig in a user's form. */
export const foreign = (token: string): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    'clusters: [{ name: a, cluster: { server: "https://10.0.0.9:6443" } }]',
    `users: [{ name: a, user: { token: ${token} } }]`,
    'contexts: [{ name: a, context: { cluster: a, user: a } }]',
    'current-context: a',
  ].join('\n');

/** An ExternalControlPlane that core owns, and its controller. */
export const createHarness = async (t: TestContext, { account = true, startTime }: HarnessOptions = {}) => {
  const harness = await createClusterHarness(t, startTime);
  const { client, theirs, clock, log, redactor } = harness;
  const metadata = { ...controlPlaneName, ownerReferences: [harness.owner] };
  await client.create(externalControlPlane.resource, externalControlPlane.make({ metadata }));
  const addAccount = () =>
    client.create(serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'capi-remote', namespace },
    });
  if (account) await addAccount();
  /** The address and CA that the controller sees; a test may change them. */
  const apiServer = {
    address: async (): Promise<string> => 'https://10.0.0.1:443',
    ca: harness.kubernetes.identity.caCertificate,
  };
  const recorder = createEventRecorder({ client: theirs, clock, log, component: 'control-plane', instance: 'test' });
  const get = () => client.get(externalControlPlane.resource, controlPlaneName);
  const secret = () => client.get(secrets, secretName);
  return {
    ...harness,
    apiServer,
    addAccount,
    removeAccount: () => client.delete(serviceAccounts, { namespace, name: 'capi-remote' }),
    start: async () => {
      const controller = createControlPlaneController({
        client: theirs,
        tokens: createSubresources(harness.transport, { clock }),
        controlPlanes: await harness.follow(externalControlPlane.resource),
        clusters: await harness.follow(clusters),
        secrets: await harness.follow(secrets),
        address: () => apiServer.address(),
        ca: apiServer.ca,
        events: recorder,
        redactor,
        clock,
        log,
      });
      await harness.run(controller);
      await harness.pass(1);
    },
    get,
    secret,
    secretIfThere: () => ignoreNotFound(secret()),
    kubeconfig: async (): Promise<string> =>
      Buffer.from((await secret()).data?.[secretKeys.kubeconfig] ?? '', 'base64').toString(),
    tokenMetadata: async (): Promise<Record<string, string>> =>
      JSON.parse((await secret()).metadata.annotations?.[annotations.kubeconfigToken] ?? '{}'),
    reasonOf: async (type: string) => getCondition((await get()).status?.conditions, type)?.reason,
    /** A user creates the Secret. */
    provide: (token: string, metadata: ObjectMeta = {}, more: object = {}) =>
      client.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { ...secretName, labels: { 'cluster.x-k8s.io/cluster-name': 'macs' }, ...metadata },
        type: 'cluster.x-k8s.io/secret',
        data: { [secretKeys.kubeconfig]: Buffer.from(foreign(token)).toString('base64') },
        ...more,
      }),
    setMode: (kubeconfig: 'Minted' | 'Provided') =>
      client.patch(externalControlPlane.resource, controlPlaneName, { type: 'merge', body: { spec: { kubeconfig } } }),
    patchSecret: async (body: object) => {
      await client.patch(secrets, secretName, { type: 'merge', body });
      await harness.pass(1);
    },
    deleteSecret: async () => {
      await client.delete(secrets, secretName);
      await harness.pass(1);
    },
    messages: async () => (await client.list(events, { namespace })).items.map(({ message }) => message ?? ''),
    /** Writes of Secrets, and token requests. */
    mints: () => harness.writes.filter((write) => /\/secrets|\/token$/.test(write)),
  };
};

interface HarnessOptions {
  account?: boolean;
  startTime?: number;
}
