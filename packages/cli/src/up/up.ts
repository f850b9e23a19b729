import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Client, errorMessage } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import {
  freePort,
  type HostKind,
  type Progress,
  type Simulation,
  startSimulation,
  untilHostsFound,
  untilMachinesReady,
} from '@tartan/sim-fleet';
import type { Cluster } from '../cluster/connection.ts';
import { type ClusterState, readClusterState } from '../cluster/state.ts';
import { watchState } from '../cluster/watch-state.ts';
import { startFaultServer } from '../fault/server.ts';
import type { Terminal } from '../host/ask-secret.ts';
import { counted } from '../output/terminal-text.ts';
import { type Page, pageLines } from '../output/view.ts';
import { fleetView } from '../views/fleet.ts';
import { portFor, readableError, readSavedState, writeSavedState } from './data-folder.ts';
import { createDemoPod, demoPodLog, untilDemoPodRuns } from './demo-pod.ts';
import { logClusterEvents, logJobs } from './event-log.ts';
import { desiredMachines, fleetSizes } from './fleet-sizes.ts';
import { listenForKeys } from './live/keys.ts';
import type { UpView } from './live/up-view.ts';
import { suggestedCommands } from './next-steps.ts';
import { keepQueueing } from './queue-jobs.ts';

export interface UpOptions {
  readonly port: number;
  /** Macs in the pool. Undefined: one more than machines. */
  readonly pool?: number;
  /** Wanted machines. */
  readonly machines: number;
  readonly hosts: HostKind;
  /** Machines that bake images. Undefined: depends on the number of machines. */
  readonly builders?: number;
  /** Ends when a Pod runs on the first machine, and its log can be read. */
  readonly once?: boolean;
  /** Folder that is kept; a temporary one if undefined. */
  readonly data?: string;
  /** How many times faster than real Macs these are. */
  readonly speed: number;
  /** `embedded`, `real`, or the kubeconfig of an existing cluster. */
  readonly kubernetes: string;
}

export interface UpContext {
  readonly view: UpView;
  readonly stdin: Terminal['input'];
  readonly signal: AbortSignal;
}

/** Starts the fleet, shows what happens, and removes everything at the end. Returns the exit code. */
export const up = async (options: UpOptions, context: UpContext): Promise<number> => {
  const { view, stdin } = context;
  const isInteractive = stdin.isTTY === true;
  const stopRequest = new AbortController();
  const signal = AbortSignal.any([context.signal, stopRequest.signal]);
  signal.addEventListener('abort', () => view.stop(), { once: true });
  const undo: (() => unknown)[] = [view.stop];
  let folder = resolve(options.data ?? tmpdir());
  let enter = (): void => {};
  try {
    if (isInteractive) undo.push(listenForKeys(stdin, { enter: () => enter(), stop: () => stopRequest.abort() }));
    if (options.data === undefined) {
      folder = await mkdtemp(join(tmpdir(), 'tartan-'));
      undo.push(() => rm(folder, { recursive: true, force: true }));
    }
    const metricsPort = await freePort();
    const { simulation, nextVersion } = await startFleet(options, folder, metricsPort, view);
    undo.push(simulation.stop);
    const arePlayed = options.hosts === 'played';
    // Incidents happen to processes and files of Macs.
    if (!arePlayed) undo.push((await startFaultServer(simulation)).stop);
    const { client, transport } = simulation.controlPlane;
    undo.push(startLogging(simulation, 1 / options.speed, view, signal));
    const orBroken = <T>(waiting: Promise<T>): Promise<T> => Promise.race([waiting, simulation.failure]);

    const { macs, wanted } = await desiredMachines(client, simulation.macs.scaleway.servers().length);
    const found = view.step('The provider discovers Macs');
    await orBroken(untilHostsFound(client, macs, signal));
    const pod = await createDemoPod(client);
    found.done(`The provider has discovered the Macs; ${counted(wanted, 'machine')} and the Pod ${pod} are created`);
    view.writeLine();
    const first = options.once ? Math.min(1, wanted) : Math.min(wanted, macs);
    const ready = view.step(`Waiting for ${counted(first, 'machine')} to be Ready`);
    await orBroken(untilMachinesReady(client, first, signal));
    if (!signal.aborted) ready.done(`${counted(first, 'machine')} Ready`);
    const runs = view.step(`Waiting for the Pod ${pod} to run`);
    await orBroken(untilDemoPodRuns(client, pod, signal, { withLog: !arePlayed }));
    if (!signal.aborted) {
      runs.done(`The Pod ${pod} runs, ${arePlayed ? 'without a virtual machine' : 'as a virtual machine'}`);
      if (!isInteractive) await printFleet(client, view, signal);
    }
    if (!signal.aborted && !arePlayed) {
      view.podLog(`kubectl logs ${pod}`, await demoPodLog(transport, pod, signal));
    }
    if (options.once && !signal.aborted) return 0;
    enter = () => void roll(simulation, nextVersion, view);
    if (!signal.aborted) {
      view.commands(await suggestedCommands(simulation, pod, options.hosts));
      const rolls = isInteractive ? 'Enter rolls out a new agent version. ' : '';
      view.keys(`${rolls}Ctrl-C stops the fleet and ${options.data === undefined ? 'removes' : 'keeps'} its files.`);
    }
    await orBroken(aborted(signal));
    view.writeLine('\nStopping.');
    const end = options.data === undefined ? 'Nothing was left behind.' : `The fleet is kept in ${folder}.`;
    undo.unshift(() => view.writeLine(`Stopped. ${end}`));
    return 0;
  } catch (error) {
    // Errors after a stop request are expected.
    if (!signal.aborted) throw readableError(error, folder);
    return 0;
  } finally {
    for (const each of undo.toReversed()) await each();
  }
};

const versionOf = (release: number): string => `0.${release}.0`;

const startFleet = async (
  options: UpOptions,
  folder: string,
  metricsPort: number,
  view: UpView,
): Promise<{ simulation: Simulation; nextVersion: () => Promise<string> }> => {
  const { kubernetes, machines, hosts, pool = machines + 1, speed, data } = options;
  const fleets = fleetSizes(options);
  const saved = data === undefined ? undefined : await readSavedState(folder);
  if (saved !== undefined) view.step('').done(`The fleet in ${view.paint('bold', folder)} is continued`);
  let release = saved?.release ?? 1;
  const simulation = await startSimulation({
    folder,
    persistent: data !== undefined,
    kubernetes: kubernetes === 'embedded' || kubernetes === 'real' ? kubernetes : { kubeconfig: resolve(kubernetes) },
    port: portFor(saved, options.port, folder),
    pool,
    hosts,
    fleets,
    ...(fleets.runners + fleets.builders > 0 && { runners: {} }),
    pace: 1 / speed,
    version: versionOf(release),
    flags: [`--metrics-bind-address=127.0.0.1:${metricsPort}`],
    progress: logProgress(view, metricsPort, hosts),
    onCrash: (code, what) =>
      view.writeLine(view.paint('warn', `${upperFirst(what)} has exited with code ${code} and is restarted.`)),
  });
  const save = async (): Promise<void> => {
    if (data !== undefined)
      await writeSavedState(folder, { port: Number(new URL(simulation.controlPlane.url).port), release });
  };
  await save();
  return {
    simulation,
    nextVersion: async () => {
      release += 1;
      await save();
      return versionOf(release);
    },
  };
};

const logProgress = (view: UpView, metricsPort: number, hosts: HostKind): ((progress: Progress) => void) => {
  let current = view.step('Kubernetes starts');
  return (progress) => {
    switch (progress.what) {
      case 'kubernetes':
        current.done(`Kubernetes is up at ${view.paint('bold', progress.url)}`);
        current = view.step('Macs are rented and installed');
        return;
      case 'pool':
        current.done(`${counted(progress.macs, `${hosts} Mac`)} at a simulated Scaleway, ${progress.url}`);
        current = view.step('The provider starts');
        return;
      case 'provider':
        current.done(
          `The provider and a stand-in for Cluster API core have started; metrics: http://127.0.0.1:${metricsPort}/metrics`,
        );
        return;
      case 'runners':
        view.step('').done(`A simulated GitHub, ${progress.url}, and the runners controller have started`);
    }
  };
};

/** Logs events, and queues jobs at the simulated GitHub. */
const startLogging = (
  { controlPlane, runners }: Simulation,
  pace: number,
  view: UpView,
  signal: AbortSignal,
): (() => Promise<unknown>) => {
  const { client } = controlPlane;
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const tasks = [
    logClusterEvents(client, view, until),
    showFleet(client, view, until),
    ...(runners ? [logJobs(runners.github, view, until), keepQueueing(runners.github, pace, until)] : []),
  ];
  return () => {
    ending.abort();
    return Promise.allSettled(tasks);
  };
};

/** Ages in the table change. */
const tickMs = 5000;

const fleetPage = (state: ClusterState): Page => fleetView.pageOf(fleetView.documentOf(state));

const printFleet = async (client: Client, view: UpView, signal: AbortSignal): Promise<void> => {
  const page = fleetPage(await readClusterState({ client, clock }, {}, signal));
  const lines = pageLines(page, undefined, { colours: false }).map((line) => `  ${line}`);
  // In one piece: events are written in between.
  view.writeLine(['', view.paint('bold', 'tartan fleet'), ...lines].join('\n'));
};

const showFleet = async (client: Client, view: UpView, signal: AbortSignal): Promise<void> => {
  const onChange = (state: ClusterState): void => view.fleet(fleetPage(state));
  const read = (cluster: Cluster): Promise<ClusterState> => readClusterState(cluster, {}, signal);
  await watchState({ client, clock }, read, { onChange, everyMs: tickMs }, signal);
};

const roll = async (simulation: Simulation, nextVersion: () => Promise<string>, view: UpView): Promise<void> => {
  try {
    const version = await nextVersion();
    await simulation.upgrade({ version });
    view.writeLine(`The provider is upgraded and rolls out agent ${version}.`);
  } catch (error) {
    view.writeLine(view.paint('warn', `The rollout failed: ${errorMessage(error)}`));
  }
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolved) => {
    if (signal.aborted) resolved();
    signal.addEventListener('abort', () => resolved(), { once: true });
  });

const upperFirst = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
