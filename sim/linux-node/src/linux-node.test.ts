import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type Client,
  createClient,
  httpsTransport,
  loadConfig,
  nodes,
  pods,
  secrets,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { eventually, testDeadline } from '@tartan/kube/testing';
import { adminKubeconfig, createKubernetes, type Kubernetes, serve } from '@tartan/sim-kubernetes';
import { canRunContainers, type Image } from './container/start-container.ts';
import type { Container, Pod } from './pod/pod.ts';
import { type LinuxNode, startLinuxNode } from './start-linux-node.ts';
import { tinyImage } from './testing/tiny-image.ts';

const namespace = 'default';
const isReady = (conditions: readonly { type: string; status: string }[] = []): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

describe('the simulated Linux Node', {
  skip: canRunContainers() ? false : 'this machine lets us mount nothing',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-linux-node-'));
  const images = new Map<string, Image>([['tiny:1', { folder: join(folder, 'image'), user: 65532 }]]);
  let kubernetes: Kubernetes;
  let server: Awaited<ReturnType<typeof serve>>;
  let transport: Transport;
  let client: Client;
  let node: LinuxNode;

  before(async () => {
    tinyImage(join(folder, 'image'));
    kubernetes = await createKubernetes();
    server = await serve(kubernetes);
    const kubeconfigPath = join(folder, 'kubeconfig');
    writeFileSync(kubeconfigPath, await adminKubeconfig(kubernetes.identity, server.url));
    transport = httpsTransport({ ...(await loadConfig({ env: {}, clock, kubeconfigPath })), clock });
    client = createClient(transport, { clock });
    await client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'credentials' },
      stringData: { WORD: 'open sesame' },
    });
    await client.create(serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name: 'me' },
    });
    node = await startLinuxNode({ name: 'linux-1', transport, url: server.url, folder, images, secondMs: 20 });
  });
  after(async () => {
    await node?.stop();
    transport?.close();
    await server?.close();
    kubernetes?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (
    name: string,
    script: string,
    more: { spec?: Partial<Pod['spec']>; container?: Partial<Container> } = {},
  ) =>
    client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name },
      spec: {
        nodeName: 'linux-1',
        restartPolicy: 'Never',
        serviceAccountName: 'me',
        ...more.spec,
        containers: [{ name: 'main', image: 'tiny:1', command: ['/bin/sh', '-c', script], ...more.container }],
      },
    });
  const until = async (name: string, holds: (pod: Pod) => boolean): Promise<Pod> => {
    const signal = testDeadline();
    const { items, resourceVersion } = await client.list(pods, { namespace });
    const there = items.find(({ metadata }) => metadata.name === name);
    if (there && holds(there)) return there;
    for await (const event of client.watch(pods, { namespace, resourceVersion, signal }))
      if (event.type === 'MODIFIED' && event.object.metadata.name === name && holds(event.object)) return event.object;
    throw new Error(`waited in vain for Pod ${name}`);
  };
  const logOf = (name: string): string => readFileSync(join(node.logs, `${namespace}_${name}_main.log`), 'utf8');
  const stateOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state;
  const phaseIs = (phase: string) => (pod: Pod) => pod.status?.phase === phase;

  test('is Ready, with all conditions of a kubelet', async () => {
    const { status } = await client.get(nodes, { name: 'linux-1' });
    assert.ok(isReady(status?.conditions));
    assert.equal(status?.conditions?.length, 4);
  });

  test('runs a container in its image, as the user of the image, with a read-only root, its variables and its volumes', async () => {
    const script =
      'echo "$GREETING; $(cat /run/secret/WORD); $(cat /run/me/where)"; ' +
      '[ ! -e /etc/passwd ] || echo outside; (echo x >/x) 2>/dev/null || echo read-only; echo y >/scratch/y && cat /scratch/y; ' +
      'while read -r key value rest; do [ "$key" != Uid: ] || echo "uid $value"; done </proc/self/status; ' +
      '[ -s /run/me/token ] && echo token';
    await run('one', script, {
      container: {
        env: [
          { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'GREETING', value: 'hello $(NAME)' },
        ],
        securityContext: { readOnlyRootFilesystem: true, runAsNonRoot: true },
        volumeMounts: [
          { name: 'secret', mountPath: '/run/secret', readOnly: true },
          { name: 'me', mountPath: '/run/me', readOnly: true },
          { name: 'scratch', mountPath: '/scratch' },
        ],
      },
      spec: {
        volumes: [
          { name: 'secret', secret: { secretName: 'credentials' } },
          { name: 'scratch', emptyDir: {} },
          {
            name: 'me',
            projected: {
              sources: [
                { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
                { downwardAPI: { items: [{ path: 'where', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
              ],
            },
          },
        ],
      },
    });
    const pod = await until('one', phaseIs('Succeeded'));
    assert.equal(stateOf(pod)?.terminated?.exitCode, 0);
    const user = process.getuid?.() === 0 ? 65532 : 0;
    assert.deepEqual(logOf('one').trim().split('\n'), [
      'hello one; open sesame; default',
      'read-only',
      'y',
      `uid ${user}`,
      'token',
    ]);
  });

  test('restarts a failed container with back-off, and reports CrashLoopBackOff', async () => {
    await run('two', 'exit 3', { spec: { restartPolicy: 'Always' } });
    const pod = await until('two', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) >= 2);
    assert.equal(pod.status?.phase, 'Running');
    await until('two', (each) => stateOf(each)?.waiting?.reason === 'CrashLoopBackOff');
    await client.delete(pods, { namespace, name: 'two' });
  });

  test('waits for a missing image and a missing Secret', async () => {
    await run('three', 'exit 0', { container: { image: 'tiny:2', envFrom: [{ secretRef: { name: 'later' } }] } });
    await until('three', (pod) => stateOf(pod)?.waiting?.reason === 'ErrImagePull');
    images.set('tiny:2', { folder: join(folder, 'image') });
    const pod = await until('three', (each) => stateOf(each)?.waiting?.reason === 'CreateContainerConfigError');
    assert.equal(stateOf(pod)?.waiting?.message, 'secret "later" not found');
    await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'later' } });
    await until('three', phaseIs('Succeeded'));
  });

  test('obeys readiness and liveness probes and the termination grace period', async () => {
    const port = 18_080;
    const probe = { httpGet: { path: '/', port }, periodSeconds: 1, failureThreshold: 3 };
    await run('four', 'trap "" TERM; while :; do sleep 1; done', {
      spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 1 },
      container: { readinessProbe: probe, livenessProbe: { ...probe, initialDelaySeconds: 20 } },
    });
    const ready = ({ status }: Pod): boolean => isReady(status?.conditions);
    const begun = await until('four', (pod) => phaseIs('Running')(pod) && pod.status?.podIP !== undefined);
    assert.ok(!ready(begun));
    const listening: Server = createServer((_, response) => response.end()).listen(port, begun.status?.podIP);
    await until('four', ready);
    listening.close();
    listening.closeAllConnections();
    await until('four', (pod) => (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) >= 1);
    await client.delete(pods, { namespace, name: 'four' }, { gracePeriodSeconds: 1 });
    await eventually('the Pod is gone', async () =>
      (await client.list(pods, { namespace })).items.every(({ metadata }) => metadata.name !== 'four'),
    );
  });
});
