import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import {
  createClient,
  inProcessTransport,
  isKubeError,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createKubernetes, type KubernetesOptions } from '@tartan/sim-kubernetes';
import { unstick, type UnstickOptions } from '../unstick.ts';

export const vmCleanup = 'tart-kubelet.tuist.dev/vm-cleanup';
type Send = Transport['send'];
type Authorize = NonNullable<KubernetesOptions['authorize']>;

/** An embedded Kubernetes on virtual time with Nodes and Pods, and a user with the permissions of `isAllowed`. */
export const setUpCluster = async (
  t: TestContext,
  isAllowed: (call: Parameters<Authorize>[0]) => boolean = () => true,
) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({
    clock,
    controllers: false,
    authorize: (call) => ({ allowed: call.user.name === 'admin' || isAllowed(call), reason: '' }),
  });
  t.after(() => kubernetes.stop());
  const as = (commonName: string): Transport =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [] } });
  const admin = createClient(as('admin'), { clock });
  const theirs = as('person');
  const calls: string[] = [];
  let between: (send: Send) => Send = (send) => send;
  const person = createClient(
    {
      ...theirs,
      send: (request) => {
        calls.push(`${request.method} ${request.path.split('?')[0]}`);
        return between(theirs.send)(request);
      },
    },
    { clock },
  );

  const addNamespace = async (name: string): Promise<void> => {
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const metadata = { name: 'default', namespace: name };
    await admin.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  };
  await addNamespace('runners');

  return {
    admin,
    clock,
    calls,
    addNamespace,
    /** Intercepts the calls between the user and the server. */
    interpose: (wrap: (send: Send) => Send) => {
      between = wrap;
    },
    addNode: async (name: string, ready = true): Promise<void> => {
      await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
      const conditions = [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }];
      const body = { status: { conditions } };
      await admin.patch(nodes, { name }, { type: 'merge', body }, { subresource: 'status' });
    },
    /** Creates a Pod, which is deleted by default. */
    addPod: async (
      name: string,
      nodeName: string | undefined,
      {
        namespace = 'runners',
        finalizers = [vmCleanup],
        labels = {},
        deleted = true,
      }: { namespace?: string; finalizers?: string[]; labels?: Record<string, string>; deleted?: boolean } = {},
    ): Promise<void> => {
      await admin.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace, finalizers, labels },
        spec: { containers: [{ name: 'vm', image: 'macos' }], ...(nodeName !== undefined && { nodeName }) },
      });
      if (deleted) await admin.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
    },
    /** Undefined once the Pod is gone. */
    finalizersOf: (name: string, namespace = 'runners') =>
      admin.get(pods, { namespace, name }).then(
        (pod) => pod.metadata.finalizers ?? [],
        (error: unknown) => {
          if (isKubeError(error, 'notFound')) return undefined;
          throw error;
        },
      ),
    run: async (options: Partial<UnstickOptions> = {}, signal = new AbortController().signal, isTTY = false) => {
      const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY })];
      const said = Promise.all([text(stdout), text(stderr)]);
      try {
        const cluster = { client: person, clock };
        const code = await unstick({ apply: false, output: 'table', ...options }, cluster, { stdout, stderr }, signal);
        stdout.end();
        stderr.end();
        const [out, err] = await said;
        return { code, out, err };
      } finally {
        stdout.destroy();
        stderr.destroy();
        await said.catch(() => {});
      }
    },
  };
};
