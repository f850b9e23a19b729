import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  certificateSigningRequests,
  type Client,
  createClient,
  createLogger,
  createSubresources,
  type Live,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { createServerSupervisor } from '../../../packages/tart-kubelet/src/api/server-supervisor.ts';
import { openRuntimeHarness, type RuntimeHarness } from '../../../packages/tart-kubelet/src/runtime/testing/harness.ts';
import { createWaits } from '../../system/waits.ts';
import type { ReachCluster } from './clusters.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

/** A Pod `vm` of a Mac, whose virtual machine is the fake tart's, and the kubelet API of that Mac as the agent serves it. */
export interface ReachHarness {
  readonly runtime: RuntimeHarness;
  readonly kubectl: Kubectl;
  close(): Promise<void>;
}

type Pod = NonNullable<(typeof pods)['ofType']>;

/** The status says that the container runs: otherwise the API server refuses exec and logs. */
const makePod = async (client: Client, namespace: string, nodeName: string): Promise<Live<Pod>> => {
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  // Without it the Pod is refused.
  await createWaits(client, undefined, namespace).waitFor(serviceAccounts, 'default', 'exists', () => true);
  const made = await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'vm', namespace },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'vm', image: 'ghcr.io/example/macos:26', stdin: true }],
    },
  });
  const running = { name: 'vm', image: 'x', imageID: 'x', ready: true, restartCount: 0, state: { running: {} } };
  const body = { status: { phase: 'Running', containerStatuses: [running] } };
  await client.patch(pods, { namespace, name: 'vm' }, { type: 'merge', body }, { subresource: 'status' });
  return made;
};

const makeNode = (client: Client, name: string): Promise<unknown> =>
  client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { unschedulable: true } });

const tellPort = (client: Client, name: string, port: number): Promise<unknown> => {
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
    declaredFeatures: ['ExtendWebSocketsToKubelet'],
  };
  const options = { subresource: 'status', fieldValidation: 'Ignore' } as const;
  return client.patch(nodes, { name }, { type: 'merge', body: { status } }, options);
};

export const startReachHarness = async (
  cluster: ReachCluster,
  env: Readonly<Record<string, string>>,
): Promise<ReachHarness> => {
  const undo: (() => Promise<unknown> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const each of undo.splice(0).reverse()) await each();
  };
  const clock = systemClock;
  const suffix = randomUUID().slice(0, 8);
  const [nodeName, namespace] = [`mac-${suffix}`, `reach-${suffix}`];
  try {
    const client = createClient(cluster.admin, { clock });
    await makeNode(client, nodeName);
    undo.push(() => client.delete(nodes, { name: nodeName }));
    const pod = await makePod(client, namespace, nodeName);
    undo.push(() => client.delete(pods, { namespace, name: 'vm' }, { gracePeriodSeconds: 0 }));

    const name = { namespace, pod: 'vm', container: 'vm' };
    const runtime = await openRuntimeHarness({ name, uid: pod.metadata.uid });
    undo.push(runtime.close);

    const transport = await cluster.asNode(nodeName);
    undo.push(() => transport.close());
    const listening = Promise.withResolvers<number>();
    const lines: string[] = [];
    const api = createServerSupervisor({
      client: createClient(transport, { clock }),
      transport,
      nodeName,
      address: () => '127.0.0.1',
      port: 0,
      clientCA: () => cluster.ca,
      runtime: runtime.runtime,
      file: join(runtime.folder, 'serving-certificate.pem'),
      clock,
      random: Math.random,
      log: createLogger({ clock, level: 'info', write: (line) => lines.push(line) }),
      metrics: async () => ({ contentType: 'text/plain', body: '' }),
      onListening: listening.resolve,
      limits: { closingMs: 0 },
    });
    const stop = new AbortController();
    const done = api.run(stop.signal);
    undo.push(async () => {
      stop.abort();
      await done;
    });
    await tellPort(client, nodeName, await listening.promise);

    // In production the provider does this.
    const approve = async (): Promise<boolean> => {
      const { items } = await client.list(certificateSigningRequests);
      const own = items.find(({ metadata }) => metadata.name.startsWith(`kubelet-serving-${nodeName}-`));
      if (own === undefined) return false;
      const verdict = { type: 'Approved', reason: 'Test', message: 'it is ours' } as const;
      await createSubresources(cluster.admin, { clock }).approveCertificate(own, verdict);
      return true;
    };
    await eventually('there is a request for a serving certificate', approve);
    await eventually('the certificate is in use', () =>
      lines.some((line) => line.includes('A serving certificate is in use')),
    );

    const kubectl = createKubectl({
      command: cluster.kubectl,
      kubeconfig: cluster.kubeconfig,
      namespace,
      home: runtime.folder,
      env,
    });
    undo.push(kubectl.close);
    return { runtime, kubectl, close };
  } catch (error) {
    await close();
    throw error;
  }
};
