import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Client, type Live, namespaces, secrets } from '@tartan/kube';
import { connect, type MacPool, startMacPool } from '@tartan/sim-fleet';
import { type LinuxNode, startLinuxNode } from '@tartan/sim-linux-node';
import type { Mac } from '@tartan/sim-mac';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { ensureBinaries, startClusterApi, startControlPlane } from '@tartan/tools-kubernetes';
import { createWaits, type Waits } from '../../../system/waits.ts';
import { type Audited, auditFlags, readAudit } from './audit.ts';
import { createImages, type Images } from './images.ts';
import { logTails, type Ran, run } from './run.ts';
import { firstValues, merged, namespace, release, scalewaySecret, type Values } from './values.ts';

type Machine = Live<ScalewayAppleSiliconMachine>;

/** A cluster in which a user installs Tartan: Kubernetes, Cluster API core, two Linux Nodes, Scaleway with Macs. */
export interface Harness extends Waits {
  readonly folder: string;
  /** Of the API server. */
  readonly url: string;
  readonly client: Client;
  readonly macs: MacPool;
  readonly images: Images;
  kubectl(...args: readonly string[]): Promise<Ran>;
  /** `helm <command> tartan charts/tartan --wait`, with the values so far and `more`, which is kept if the command succeeds. */
  helm(command: 'install' | 'upgrade', more?: Values, flags?: readonly string[]): Promise<Ran>;
  /** Any other command of helm, in the namespace of the release. */
  runHelm(...args: readonly string[]): Promise<Ran>;
  /** Of a fleet, by name. */
  machines(fleet: string): Promise<readonly Machine[]>;
  serverOf(machine: Machine): SimulatedServer;
  macOf(machine: Machine): Mac;
  audit(): readonly Audited[];
  /** The last lines of all logs that may explain a failure. */
  systemLogs(): string;
  /** Fires when the harness is stopped. */
  readonly over: AbortSignal;
  stop(): Promise<void>;
}

/** Only ends a hanging test, also on a busy machine; no test is about time. */
const patienceMs = 300_000;
const chart = join(import.meta.dirname, '../../../../charts/tartan');
const linuxNodes = ['linux-1', 'linux-2'] as const;

export const startHarness = async (): Promise<Harness> => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-installed-'));
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    return await furnish(folder, stops, stop);
  } catch (error) {
    await stop();
    throw error;
  }
};

const furnish = async (folder: string, stops: (() => unknown)[], stop: () => Promise<void>): Promise<Harness> => {
  const made = createImages(join(folder, 'images'));
  // So that nothing appears in the folder after it was removed.
  stops.push(() => made.catch(() => {}));
  const binaries = await ensureBinaries(['helm', 'kubectl']);
  const plane = await startControlPlane({
    controllerManager: true,
    scheduler: true,
    apiServerFlags: auditFlags(folder),
    // A dead Mac is noticed earlier than after 50 s.
    controllerManagerFlags: ['--node-monitor-grace-period=30s', '--node-monitor-period=2s'],
  });
  stops.push(plane.stop);
  const macs = await startMacPool({ folder: join(folder, 'macs'), pace: 0.01, scalewayPace: 0.004 });
  stops.push(macs.stop);
  const core = await startClusterApi(plane);
  stops.push(core.stop);
  const { client, transport, url } = await connect(plane.adminKubeconfigPath);
  stops.push(() => transport.close());
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const { SCW_API_URL: scalewayURL = '', ...credentials } = macs.environment;
  await client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: scalewaySecret },
    stringData: credentials,
  });
  const images = await made;
  await images.release('0.1.0');
  const nodes: LinuxNode[] = [];
  for (const name of linuxNodes) {
    const place = join(folder, name);
    const node = await startLinuxNode({ name, transport, url, folder: place, images: images.known, secondMs: 100 });
    stops.push(node.stop);
    nodes.push(node);
  }

  const over = new AbortController();
  stops.push(() => over.abort());
  const home = join(folder, 'home');
  mkdirSync(home);
  const env = {
    ...process.env,
    HOME: home,
    KUBECONFIG: plane.adminKubeconfigPath,
    PATH: `${dirname(binaries.kubectl)}:${process.env['PATH']}`,
  };
  let values = firstValues({ apiServerURL: url, scalewayURL });
  const file = join(folder, 'values.json');
  const runHelm = (...args: readonly string[]): Promise<Ran> =>
    run(binaries.helm, [...args, '--namespace', namespace], { env });
  const waits = createWaits(client, undefined, namespace);
  const serverOf = ({ status }: Machine): SimulatedServer => {
    const found = macs.scaleway.servers().find(({ id }) => id === status?.serverID);
    if (found === undefined) throw new Error(`there is no server ${status?.serverID}`);
    return found;
  };
  const systemLogs = (): string =>
    logTails([core.log, ...nodes.flatMap(({ logs }) => readdirSync(logs).map((name) => join(logs, name)))], 6_000);
  /** Adds the logs of the system to the error of a failed test. */
  const withDiagnostics = async <T>(waiting: Promise<T>): Promise<T> => {
    try {
      return await waiting;
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${systemLogs()}`, { cause: error });
    }
  };
  return {
    folder,
    url,
    client,
    macs,
    images,
    kubectl: (...args) => run(binaries.kubectl, ['--namespace', namespace, ...args], { env }),
    helm: async (command, more = {}, flags = ['--wait', '--timeout', `${patienceMs / 1000}s`]) => {
      const next = merged(values, more);
      // JSON is valid YAML.
      writeFileSync(file, JSON.stringify(next));
      const ran = await runHelm(command, release, chart, '--values', file, ...flags);
      if (ran.code === 0) values = next;
      return ran;
    },
    runHelm,
    waitFor: (...asked) => withDiagnostics(waits.waitFor(...asked)),
    waitUntilGone: (...asked) => withDiagnostics(waits.waitUntilGone(...asked)),
    machines: async (fleet) => {
      const { items } = await client.list(machine.resource, { namespace });
      return items
        .filter(({ spec }) => spec.fleetName === fleet)
        .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    },
    serverOf,
    macOf: (of) => {
      const { mac } = serverOf(of);
      if (mac === undefined) throw new Error(`no Mac is behind ${of.metadata.name}`);
      return mac;
    },
    audit: () => readAudit(folder),
    systemLogs,
    over: over.signal,
    stop,
  };
};
