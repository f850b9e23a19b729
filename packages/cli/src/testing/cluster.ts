import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  inProcessTransport,
  type KubeObject,
  type Live,
  namespaces,
  type Resource,
} from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { adminKubeconfig, createKubernetes, type KubernetesOptions, serve } from '@tartan/sim-kubernetes';
import type { Connection } from '../cluster/connection.ts';
import { tartan } from '../program.ts';

type Call = Parameters<NonNullable<KubernetesOptions['authorize']>>[0];

/** An embedded Kubernetes with our kinds, and a user with the permissions of `isAllowed`. No controller runs in it. */
export const startCluster = async ({
  clock = systemClock,
  kinds = true,
  isAllowed = () => true,
}: {
  clock?: Clock;
  kinds?: boolean;
  isAllowed?: (call: Call) => boolean;
} = {}) => {
  const kubernetes = await createKubernetes({
    clock,
    controllers: false,
    authorize: (call) => ({ allowed: call.user.name === 'admin' || isAllowed(call), reason: '' }),
  });
  const transportOf = (commonName: string) =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [] } });
  const admin = createClient(transportOf('admin'), { clock });
  if (kinds) for (const definition of definitions) await admin.create(customResourceDefinitions, definition);
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  const transport = transportOf('person');
  return {
    kubernetes,
    admin,
    connection: { client: createClient(transport, { clock }), clock, transport } satisfies Connection,
    /** Creates the object unchanged, with its status. */
    add: <T extends KubeObject>(resource: Resource<T>, object: Live<T>): Promise<Live<T>> =>
      add(admin, resource, object),
    stop: () => kubernetes.stop(),
  };
};

const add = async <T extends KubeObject>(client: Client, resource: Resource<T>, object: Live<T>): Promise<Live<T>> => {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _at,
    generation: _generation,
    ...metadata
  } = object.metadata;
  const { status, ...rest } = { status: undefined, ...object };
  const created = await client.create(resource, JSON.parse(JSON.stringify({ ...rest, metadata })));
  const name = {
    name: created.metadata.name,
    ...(created.metadata.namespace && { namespace: created.metadata.namespace }),
  };
  return status === undefined
    ? created
    : client.patch(resource, name, { type: 'merge', body: { status } }, { subresource: 'status' });
};

export type TestCluster = Awaited<ReturnType<typeof startCluster>>;

/** The same over HTTPS, and the real commands on it. */
export const serveCluster = async (cluster: TestCluster) => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-commands-'));
  const { handle, identity } = cluster.kubernetes;
  const server = await serve({ handle, identity, port: 0 });
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, await adminKubeconfig(identity, server.url));
  return {
    run: (args: readonly string[], calledAs?: string) => runTartan(args, { KUBECONFIG: kubeconfig }, calledAs),
    stop: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export const runTartan = async (args: readonly string[], env: NodeJS.ProcessEnv, calledAs?: string) => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const output = Promise.all([text(stdout), text(stderr)]);
  const around = { stdin, stdout, stderr, env, signal: new AbortController().signal };
  const code = await tartan(args, around, calledAs);
  stdout.end();
  stderr.end();
  const [out, err] = await output;
  return { code, out, err };
};
