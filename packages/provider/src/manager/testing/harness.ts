import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { definitions } from '@tartan/api/crds';
import {
  createClient,
  createLogger,
  createRedactor,
  customResourceDefinitions,
  inProcessTransport,
  type ManagerResult,
  namespaces,
  type Transport,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import type { HostPool, Server } from '@tartan/scaleway';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { parseFlags } from '../../flags/parse-flags.ts';
import type { ProviderOptions } from '../../flags/provider-options.ts';
import type { HostSettings } from '../../host-work/host-settings.ts';
import { createProvider, type ProviderDeps } from '../create-provider.ts';
import { providerRights } from '../rights.ts';
import { authorizeWith } from './authorize-with.ts';

export const namespace = 'tartan';

export const optionsWith = (...argv: readonly string[]): ProviderOptions => {
  const parsed = parseFlags(
    [
      '--metrics-bind-address=127.0.0.1:0',
      '--health-probe-bind-address=127.0.0.1:0',
      `--secrets-namespace=${namespace}`,
      '--default-adopt-pool-prefix=tuist-pool-',
      '--api-server-url=https://192.0.2.1:6443',
      ...argv,
    ],
    {},
  );
  if (!('options' in parsed)) throw new Error(JSON.stringify(parsed));
  return parsed.options;
};

const artifact = (name: string) => ({ name, sha256: 'a'.repeat(64), size: 1, file: `/nowhere/${name}` });

export const settings: HostSettings = {
  agent: { runtime: artifact('node'), release: artifact('agent'), hostCPU: 8, hostMemoryMB: 16_384, maxPods: 2 },
  tart: artifact('tart'),
  nodeExporter: undefined,
  vmEgress: { allow: [] },
  tailscale: undefined,
  builder: undefined,
};

/** A project at Scaleway with these servers, where every change is refused. */
export const quietPool = (servers: readonly Server[] = []): HostPool => {
  const refuse = () => Promise.reject(new Error('nobody should ask for this'));
  return {
    listServers: async (zone) => servers.filter((server) => server.zone === zone),
    listKeys: async () => [],
    getServer: refuse,
    rename: refuse,
    reinstall: refuse,
    reboot: refuse,
    listImages: refuse,
    createKey: refuse,
    deleteKey: refuse,
  };
};

/** Waits until nothing has been in flight for some turns of the event loop. */
export const flushPending = async (inFlight: () => number = () => 0): Promise<void> => {
  for (let quiet = 0; quiet < 60; quiet += 1) {
    await setImmediate();
    if (inFlight() > 0) quiet = 0;
  }
};

/** A cluster in this process, with our CRDs and core's, on virtual time. */
export const createHarness = async (t: TestContext, coreVersions: readonly ('v1beta1' | 'v1beta2')[] = ['v1beta2']) => {
  const clock = manualClock();
  const { authorize, refused } = authorizeWith(providerRights(optionsWith()));
  const kubernetes = await createKubernetes({ clock, controllers: false, authorize });
  t.after(() => kubernetes.stop());
  const as = (commonName: string, organizations: readonly string[] = []) =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [...organizations] } });
  let inFlight = 0;
  const direct = as('provider');
  const transport: Transport = {
    ...direct,
    send: async (request) => {
      inFlight += 1;
      try {
        return await direct.send(request);
      } finally {
        inFlight -= 1;
      }
    },
  };
  /** Waits until no request of a manager is in flight, and its effects have happened. */
  const settle = (): Promise<void> => flushPending(() => inFlight);
  const client = createClient(as('admin'), { clock });
  for (const name of [namespace, 'default', 'kube-system'])
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const definition of definitions) await client.create(customResourceDefinitions, definition);
  const installCore = async (): Promise<void> => {
    for (const definition of coreDefinitions(coreVersions)) await client.create(customResourceDefinitions, definition);
  };

  /** A manager that runs until it is stopped, or the test ends. */
  const start = (identity: string, change: Partial<ProviderDeps> = {}) => {
    const lines: string[] = [];
    const redactor = createRedactor();
    const log = createLogger({ write: (line) => lines.push(line), clock, level: 'debug', redact: redactor });
    const provider = createProvider({
      options: optionsWith(),
      transport,
      apiHost: 'in-process',
      ca: 'PEM',
      pool: quietPool(),
      settings,
      clock,
      random: () => 0.5,
      log,
      redactor,
      identity,
      ...change,
    });
    const stopping = new AbortController();
    const ended: Promise<ManagerResult> = provider.run(stopping.signal);
    const stop = async (): Promise<ManagerResult> => {
      stopping.abort();
      const over = new AbortController();
      void ended.then(() => over.abort());
      // Some parts wait by the clock for the rest of their work.
      for (let tries = 0; tries < 200 && !over.signal.aborted; tries += 1) {
        await settle();
        clock.advance(500);
      }
      return ended;
    };
    t.after(stop);
    return {
      provider,
      lines,
      stop,
      ended,
      leads: (): boolean => {
        try {
          return provider.gate.pass().remainingMs > 0;
        } catch {
          return false;
        }
      },
      ask: async (path: string): Promise<{ code: number; body: string }> => {
        const to = path.startsWith('/metrics') ? provider.addresses.metrics : provider.addresses.probes;
        const { port } = (await to) ?? { port: 0 };
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
        return { code: answer.status, body: await answer.text() };
      },
    };
  };

  return {
    clock,
    client,
    transport,
    /** Another user with all rights. */
    as: (commonName: string, organizations: readonly string[]) =>
      createClient(as(commonName, organizations), { clock }),
    /** Denied calls of managers. */
    refused,
    start,
    installCore,
    /** In steps, so that timers fire at their time. */
    pass: async (milliseconds: number, step = 500): Promise<void> => {
      for (let passed = 0; passed < milliseconds; passed += step) {
        await settle();
        clock.advance(step);
      }
      await settle();
    },
  };
};
