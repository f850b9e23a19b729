import { generateKeyPairSync } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { kindNames, type RunnerPool, runnerPool, secretKeys } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import { createRunnerService } from '@tartan/github';
import {
  createClient,
  createSecret,
  customResourceDefinitions,
  inProcessTransport,
  isKubeError,
  type KubeObject,
  type Live,
  namespaces,
  pods,
  type Resource,
  secrets,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createGitHub, type RunnerRelease } from '@tartan/sim-github';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { defaultLimits } from '../limits.ts';
import type { Pod } from '../snapshot.ts';
import { type Process, type ProcessOptions, startProcess } from './process.ts';
import { createRunnerMac, type RunnerMac } from './runner-mac.ts';

type Send = Transport['send'];

export const namespace = 'ci';
/** One key for all tests: generating one takes longer than a test. */
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
const labels = ['self-hosted', 'macOS'];
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const minute = 60_000;
const coalesceMs = 30;

/**
 * An embedded Kubernetes, a simulated GitHub and Macs, all on virtual time. The harness itself acts as scheduler and garbage collector, so
 * that a test knows when they act.
 */
export const createHarness = async ({
  macs: count = 2,
  slots = 2,
  random = Math.random,
  clock = manualClock(),
  runnerReleases = [] as readonly RunnerRelease[],
} = {}) => {
  const kubernetes = await createKubernetes({ clock, controllers: false });
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const transport = inProcessTransport(kubernetes.handle, { user });
  const client = createClient(transport, { clock });
  const github = createGitHub({ clock, random, app: { privateKey: pem }, runnerReleases });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const definition of definitions)
    if (definition.spec.names.kind === kindNames.runnerPool.kind)
      await client.create(customResourceDefinitions, definition);

  const settings = {
    jobMs: 3 * minute,
    notices: true,
    guest: 'healthy' as 'healthy' | 'silent' | 'offline',
    version: undefined as string | undefined,
  };
  const events: string[] = [];
  const errors: string[] = [];
  const killed: string[] = [];
  const macs: RunnerMac[] = [];
  const processes: Process[] = [];
  const addMac = async (): Promise<RunnerMac> => {
    const mac = createRunnerMac(
      {
        client,
        clock,
        github,
        namespace,
        jobMs: () => settings.jobMs,
        notices: () => settings.notices,
        guest: () => settings.guest,
        version: () => settings.version,
        killed: (pod) => killed.push(pod),
      },
      `mac-${macs.length + 1}`,
    );
    macs.push(mac);
    await mac.join();
    return mac;
  };
  for (let index = 0; index < count; index += 1) await addMac();
  const cordoned = new Set<RunnerMac>();
  const gone = new Set<RunnerMac>();

  const listed = async <T extends KubeObject>(resource: Resource<T>): Promise<Live<T>[]> =>
    (await client.list(resource, { namespace })).items;
  const schedule = async (all: readonly Live<Pod>[]): Promise<void> => {
    const onMac = new Map(macs.map(({ name }) => [name, all.filter(({ spec }) => spec?.nodeName === name).length]));
    for (const { metadata, spec } of all) {
      if (spec?.nodeName !== undefined || metadata.deletionTimestamp !== undefined) continue;
      const mac = macs.find((each) => !cordoned.has(each) && !gone.has(each) && (onMac.get(each.name) ?? 0) < slots);
      if (mac === undefined) return;
      onMac.set(mac.name, (onMac.get(mac.name) ?? 0) + 1);
      const body = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: metadata.name },
        target: { kind: 'Node', name: mac.name },
      };
      await bind(metadata.name, body);
    }
  };
  const bind = async (name: string, body: object): Promise<void> => {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
    const headers = { 'content-type': 'application/json' };
    const { signal } = new AbortController();
    const answer = await transport.send({ method: 'POST', path, headers, body: JSON.stringify(body), signal });
    for await (const _chunk of answer.body) void _chunk;
  };
  /** Deletes objects whose owners are gone. */
  const collect = async (all: readonly Live<Pod>[], pools: readonly Live<RunnerPool>[]): Promise<void> => {
    const owners = new Set([...all, ...pools].map(({ metadata }) => metadata.uid));
    const collectOf = async <T extends KubeObject>(resource: Resource<T>, items: readonly Live<T>[]): Promise<void> => {
      for (const { metadata } of items) {
        const owner = metadata.ownerReferences?.[0];
        if (owner === undefined || owners.has(owner.uid)) continue;
        await client.delete(resource, { namespace, name: metadata.name });
      }
    };
    await collectOf(secrets, await listed(secrets));
    await collectOf(serviceAccounts, await listed(serviceAccounts));
    await collectOf(
      pods,
      all.filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    );
  };
  /** One turn of the scheduler, the Macs and the garbage collector. */
  const tick = async (): Promise<void> => {
    const all = await listed(pods);
    await schedule(all);
    for (const mac of macs) await mac.turn(all);
    for (const { metadata, spec } of all)
      if (
        metadata.deletionTimestamp !== undefined &&
        (spec?.nodeName === undefined || gone.has(macNamed(spec.nodeName)))
      )
        await client
          .patch(pods, { namespace, name: metadata.name }, { type: 'merge', body: { metadata: { finalizers: null } } })
          .then(() => client.delete(pods, { namespace, name: metadata.name }, { gracePeriodSeconds: 0 }))
          .catch((error: unknown) => {
            if (!isKubeError(error, 'notFound')) throw error;
          });
    await collect(await listed(pods), await listed(runnerPool.resource));
  };
  const macNamed = (name: string): RunnerMac => {
    const mac = macs.find((each) => each.name === name);
    if (mac === undefined) throw new Error(`there is no Mac ${name}`);
    return mac;
  };
  /** Until no pass is under way. What leads to the next one waits for no file and no socket, so that some turns are enough on any machine. */
  const settle = async (): Promise<void> => {
    for (let quiet = 0, turns = 0; quiet < 12 && turns < 3000; quiet += 1, turns += 1) {
      await setImmediate();
      if (processes.some(({ isWorking }) => isWorking)) quiet = 0;
    }
  };

  let serial = 0;
  return {
    clock,
    kubernetes,
    client,
    github,
    settings,
    eventReasons: events,
    errors,
    killed,
    macs,
    addMac,
    settle,
    turn: tick,
    cordon: async (mac: RunnerMac, on = true) => {
      if (on) cordoned.add(mac);
      else cordoned.delete(mac);
      await mac.cordon(on);
    },
    removeMac: async (mac: RunnerMac) => {
      gone.add(mac);
      await mac.vanish();
    },
    addSecret: () =>
      client.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'github-app', namespace },
        data: {
          [secretKeys.githubApp.appID]: base64(String(github.app.id)),
          [secretKeys.githubApp.installationID]: base64('7001'),
          [secretKeys.githubApp.privateKey]: base64(pem),
        },
      }),
    addPool: (replicas: number, name = 'macos') =>
      client.create(
        runnerPool.resource,
        runnerPool.make({
          metadata: { name, namespace },
          spec: {
            replicas,
            image: 'macos:1',
            fleetSelector: 'runners',
            runnerLabels: labels,
            github: { organization: 'acme', appSecretName: 'github-app' },
          },
        }),
      ),
    setSpec: (spec: Partial<RunnerPool['spec']>, name = 'macos') =>
      client.patch(runnerPool.resource, { namespace, name }, { type: 'merge', body: { spec } }),
    deletePool: (name = 'macos') => client.delete(runnerPool.resource, { namespace, name }),
    /** Undefined: it is gone. */
    pool: async (name = 'macos') => (await listed(runnerPool.resource)).find(({ metadata }) => metadata.name === name),
    pods: () => listed(pods),
    accounts: () => listed(serviceAccounts),
    secrets: async () => (await listed(secrets)).filter(({ metadata }) => metadata.name !== 'github-app'),
    /** Another client of GitHub. */
    service: () =>
      createRunnerService({
        app: { appID: String(github.app.id), installationID: '7001', privateKey: createSecret(pem) },
        owner: { kind: 'organization', organization: 'acme' },
        clock,
        fetch: github.fetch,
      }),
    queueJob: () => github.queueJob({ repository: 'acme/app', labels }),
    /** Starts a controller process. `between` and `onFetch` intercept its calls. */
    start: async (
      between: (send: Send) => Send = (send) => send,
      onFetch: (ask: typeof fetch) => typeof fetch = (ask) => ask,
      more: Partial<ProcessOptions> = {},
    ): Promise<Process> => {
      const started = await startProcess({
        client: createClient({ ...transport, send: between(transport.send) }, { clock }),
        fetch: onFetch(github.fetch),
        clock,
        namespace,
        randomBytes: () => {
          serial += 1;
          return Buffer.from(serial.toString(16).padStart(8, '0'), 'hex');
        },
        onEvent: ({ reason }) => void events.push(reason),
        limits: defaultLimits,
        onError: (line) => errors.push(line),
        ...more,
      });
      processes.push(started);
      await settle();
      return started;
    },
    advance: async (seconds: number, step = 5) => {
      for (let passed = 0; passed < seconds; passed += step) {
        await settle();
        await tick();
        await settle();
        // The controller coalesces changes for a moment.
        clock.advance(coalesceMs);
        await settle();
        clock.advance(step * 1000 - coalesceMs);
      }
      await settle();
    },
    end: async () => {
      for (const mac of macs) mac.stop();
      await Promise.all(processes.map((each) => each.stop()));
      await github.stop();
      kubernetes.stop();
    },
  };
};

export type Harness = Awaited<ReturnType<typeof createHarness>>;

/** The reason of one of the pool's conditions. */
export const reasonOf = async (harness: Harness, type: string): Promise<string | undefined> =>
  (await harness.pool())?.status?.conditions?.find((condition) => condition.type === type)?.reason;

export const namesOf = async (harness: Harness): Promise<string[]> =>
  (await harness.pods()).map(({ metadata }) => metadata.name).sort();

export const countsOf = async (harness: Harness) => {
  const { replicas, warm, busy, retiring, stale } = (await harness.pool())?.status ?? {};
  return { replicas, warm, busy, retiring, stale };
};
