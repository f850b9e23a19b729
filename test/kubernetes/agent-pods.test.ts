import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { macTaint } from '@tartan/api';
import {
  createClient,
  createInformer,
  createLogger,
  createMetrics,
  createSubresources,
  httpsTransport,
  type KubeObject,
  namespaces,
  nodes,
  pods,
  withoutManagedFields,
} from '@tartan/kube';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { testControlPlane } from '@tartan/tools-kubernetes';
import { createMacMetrics } from '../../packages/tart-kubelet/src/agent/metrics.ts';
import { createVmSubsystem } from '../../packages/tart-kubelet/src/agent/vm-subsystem.ts';
import { createInstantMac, image } from './agent-pods/instant-tart.ts';

const podCount = 1_000;
const warmUp = 100;
const atATime = 10;

/** The agent's waits of minutes are seconds here. */
const hasty = (speed: number): Clock => {
  const [wall, start] = [systemClock.now(), systemClock.monotonic()];
  const passed = (): number => (systemClock.monotonic() - start) * speed;
  return {
    now: () => Math.trunc(wall + passed()),
    monotonic: passed,
    after: (milliseconds, run) => systemClock.after(milliseconds / speed, run),
  };
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const heapMegabytes = async (): Promise<number> => {
  await sleep(systemClock, 100);
  collectGarbage();
  return process.memoryUsage().heapUsed / 1e6;
};

/** Not often: many wait at the same time, and each poll reads all Pods. */
const until = (what: string, holds: () => boolean | Promise<boolean>): Promise<true> =>
  eventually(what, async () => {
    await sleep(systemClock, 50);
    return holds();
  });

test('a thousand Pods come and go on a real Kubernetes, and the agent keeps none of them in memory', async (t) => {
  const plane = await testControlPlane();
  /** Latest first. */
  const stops: (() => unknown)[] = [() => plane.stop()];
  t.after(async () => {
    for (const stop of stops.toReversed()) await stop();
  });
  const { url: server, caCertificate: ca } = plane;
  const nodeName = `mac-${randomUUID().slice(0, 8)}`;
  const namespace = nodeName;
  const as = (certificate: { cert: string; key: string }) => {
    const transport = httpsTransport({ server, ca, clock: systemClock, credentials: () => ({ certificate }) });
    stops.push(() => transport.close());
    return transport;
  };
  const admin = createClient(as({ cert: plane.clientCertificate, key: plane.clientKey }), { clock: systemClock });
  const subject = { user: `system:node:${nodeName}`, groups: ['system:nodes'] };
  const { certificate: cert, key } = await plane.issue(subject);
  const node = as({ cert, key });
  await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  stops.push(async () => {
    await admin.delete(nodes, { name: nodeName });
    await admin.delete(namespaces, { name: namespace });
  });

  const folder = await mkdtemp(join(tmpdir(), 'agent-pods-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const mac = await createInstantMac(folder);
  const paths = Object.fromEntries(['guests', 'images', 'journal', 'logs'].map((name) => [name, join(folder, name)]));
  const clock = hasty(20);
  const log = createLogger({ write: (line) => process.stderr.write(line), clock: systemClock, level: 'error' });
  const agent = createVmSubsystem({
    nodeName,
    agentVersion: 'v0.0.0-test',
    vmSlots: atATime,
    maxPods: atATime,
    disableVMGC: true,
    client: createClient(node, { clock: systemClock }),
    tokens: createSubresources(node, { clock: systemClock }),
    events: { event: () => {} },
    startRecorder: { recordRefusal: async () => {}, recordSuccess: async () => {} },
    paths: { guests: '', images: '', journal: '', logs: '', ...paths },
    tart: mac.tart,
    tartHome: mac.tartHome,
    tartPaths: mac.tartPaths,
    processes: mac.processes,
    dhcpLeases: join(folder, 'leases'),
    session: { exists: async () => true, ensure: async () => {} },
    hostIP: () => '10.0.0.1',
    disk: async () => ({ freeBytes: 500e9, totalBytes: 1000e9 }),
    clock,
    random: Math.random,
    log,
  });
  const metrics = createMetrics({ clock });
  createMacMetrics(metrics.registry, {
    clock,
    oldestWaitingSince: agent.pods.lister.oldestWaitingSince,
    pullsInProgress: () => 0,
    certificates: () => ({ client: undefined, serving: undefined }),
  });
  const stopping = new AbortController();
  const running = agent.run(stopping.signal);
  stops.push(() => running);
  const oldestWaiting = async (): Promise<string | undefined> =>
    /^tart_kubelet_oldest_waiting_pod_age_seconds (.*)$/m.exec((await metrics.text()).body)?.[1];

  type Seen = KubeObject & { status?: { phase?: string } };
  const phaseOf = (uid: string): string | undefined =>
    (agent.runtime.pods() as readonly Seen[]).find(({ metadata }) => metadata?.uid === uid)?.status?.phase;
  const create = (name: string) =>
    admin.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec: {
        nodeName,
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        tolerations: [{ key: macTaint.key, operator: 'Exists' }],
        containers: [{ name: 'runner', image }],
      },
    });
  const seen = createInformer({
    client: admin,
    resource: pods,
    namespace,
    transform: withoutManagedFields,
    clock: systemClock,
    random: Math.random,
    log,
  });
  const seeing = seen.run(stopping.signal);
  stops.push(() => seeing);
  /** Its job ends and it is deleted; or it is deleted while it runs, or before. Names are reused. */
  const live = async (index: number): Promise<void> => {
    const pod = await create(`runner-${index % atATime}`);
    const { name, uid } = pod.metadata;
    const isThere = (): boolean => seen.get(`${namespace}/${name}`)?.metadata.uid === uid;
    await until(`${name} is there`, isThere);
    const kind = index % 3;
    if (kind !== 2) await until(`${name} runs`, () => phaseOf(uid) === 'Running');
    if (kind === 0) {
      mac.finish(uid);
      await until(`${name} has ended`, () => phaseOf(uid) === 'Succeeded');
    }
    await admin.delete(pods, { namespace, name }, { preconditions: { uid } });
    await until(`${name} is gone`, () => !isThere());
  };
  const liveAll = async (from: number, to: number): Promise<void> => {
    // Each worker has its own names.
    const worker = async (_: unknown, own: number): Promise<void> => {
      for (let index = from + own; index < to; index += atATime) await live(index);
    };
    await Promise.all(Array.from({ length: atATime }, worker));
  };
  const nothingLeft = async (): Promise<void> => {
    await until('no Pod is known', () => agent.runtime.pods().length === 0);
    assert.equal(await oldestWaiting(), '0');
    for (const path of ['journal', 'guests', 'logs'])
      await until(`nothing is left in ${path}`, async () => (await readdir(join(folder, path))).length === 0);
    assert.equal((await readdir(join(mac.tartHome, 'vms'))).length, 1, 'the base of the image');
  };

  stops.push(() => stopping.abort());

  await liveAll(0, warmUp);
  await nothingLeft();
  const before = await heapMegabytes();
  await liveAll(0, podCount);
  await nothingLeft();
  const after = await heapMegabytes();
  t.diagnostic(`heap ${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after`);
  // A single Pod takes several KB, so a thousand leaked ones would take more.
  assert.ok(after - before < 8, `${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after ${podCount} Pods`);
});
