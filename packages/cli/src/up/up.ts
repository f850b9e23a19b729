import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@tartan/kube/clock';
import { artifactFlags } from './artifacts.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { createDemoPod, demoLog, demoPod, untilDemoRuns } from './demo-pod.ts';
import { createMachines, fleetName, untilFound, untilReady } from './fleet.ts';
import { type MacPool, startMacPool } from './mac-pool.ts';
import { startProvider } from './provider.ts';
import { registerKey } from './register-key.ts';
import { tellSteps } from './steps-on-macs.ts';
import { tellStory } from './story.ts';
import { createVersions, type Versions } from './versions.ts';
import type { Voice } from './voice.ts';
import { showFleet, showWhatToTry } from './what-to-try.ts';

export interface UpOptions {
  readonly port: number;
  /** Macs in the pool. */
  readonly pool: number;
  /** Machines that are asked for. */
  readonly machines: number;
  /** Ends when a Pod runs on the first machine, and its log can be read. */
  readonly once: boolean;
}

export interface UpSurroundings {
  readonly voice: Voice;
  /** Where a person may press Enter. */
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Fires when somebody asks us to stop. */
  readonly signal: AbortSignal;
}

/** How much faster than real Macs these are: ten seconds of theirs last a tenth of one. */
const pace = 0.01;
/** Nothing here takes longer than some seconds, so nobody is as patient as in production. */
const intervals = { inventoryMs: 10_000, hosts: { pollMs: 500 } };

/** Starts everything, says what happens, and takes it all away again when asked to. Answers the exit code. */
export const up = async (options: UpOptions, around: UpSurroundings): Promise<number> => {
  const { voice, stdin, signal } = around;
  const began = performance.now();
  const done = (what: string): void => {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    voice.say(`${voice.good('✓')} ${what} ${voice.dim(`(${seconds} s)`)}`);
  };
  /** What undoes each thing that was begun, the latest last. */
  const undo: (() => unknown)[] = [];
  try {
    const folder = await mkdtemp(join(tmpdir(), 'tartan-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const controlPlane = await startControlPlane({ folder, port: options.port });
    undo.push(controlPlane.stop);
    done(`Kubernetes is up at ${voice.bold(controlPlane.url)}`);

    const macs = await startMacPool({ folder, pace });
    undo.push(macs.stop);
    await registerKey(controlPlane.client, macs.pool, fleetName);
    await macs.order(options.pool);
    done(`${counted(options.pool, 'simulated Mac')} in the pool of a simulated Scaleway`);

    undo.push(tell(controlPlane, macs, voice, signal));
    const log = join(folder, 'provider.log');
    const versions = providers(controlPlane, macs, folder, log);
    undo.push(versions.stop);
    await versions.next();
    await Promise.race([untilFound(controlPlane.client, options.pool, signal), versions.broken]);
    await createMachines(controlPlane.client, options.machines);
    await createDemoPod(controlPlane.client);
    done(`The provider has found them, and is asked for ${counted(options.machines, 'machine')}; a Pod waits for one`);
    voice.say();

    const wanted = options.once ? 1 : options.machines;
    await Promise.race([untilReady(controlPlane.client, wanted, signal), versions.broken]);
    if (!signal.aborted) done(`${counted(wanted, 'machine')} Ready`);
    await Promise.race([untilDemoRuns(controlPlane.client, signal), versions.broken]);
    if (!signal.aborted) {
      voice.say();
      done(`The Pod ${demoPod.metadata.name} runs, as a virtual machine`);
      await showFleet(controlPlane.transport, voice, signal);
      await showLog(controlPlane.transport, voice, signal);
    }
    if (options.once && !signal.aborted) return 0;
    const interactive = stdin.isTTY === true;
    if (interactive) undo.push(onEnter(stdin, () => void roll(versions, voice)));
    if (!signal.aborted) showWhatToTry(voice, { kubeconfig: controlPlane.kubeconfig, log, interactive });
    await Promise.race([fired(signal), versions.broken]);
    voice.say('\nStopping.');
    undo.unshift(() => voice.say('Stopped. Nothing was left behind.'));
    return 0;
  } catch (error) {
    // Whatever broke off because somebody asked for the end has ended well.
    if (!signal.aborted) throw error;
    return 0;
  } finally {
    for (const each of undo.toReversed()) await each();
  }
};

const showLog = async (transport: ControlPlane['transport'], voice: Voice, signal: AbortSignal): Promise<void> => {
  voice.say();
  voice.say(voice.bold(`kubectl logs ${demoPod.metadata.name}`));
  for (const line of await demoLog(transport, signal)) voice.say(`  ${line}`);
};

const tell = ({ client }: ControlPlane, macs: MacPool, voice: Voice, signal: AbortSignal): (() => Promise<unknown>) => {
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const stories = [
    tellStory(client, voice, until),
    tellSteps(() => macs.scaleway.servers(), voice, systemClock, until),
  ];
  return () => {
    ending.abort();
    return Promise.allSettled(stories);
  };
};

const providers = (controlPlane: ControlPlane, macs: MacPool, folder: string, log: string): Versions => {
  const lines = createWriteStream(log);
  const versions = createVersions(async (version) =>
    startProvider({
      controlPlane,
      macs,
      flags: await artifactFlags(folder, { version }),
      intervals,
      write: (line) => void lines.write(line),
    }),
  );
  return {
    ...versions,
    stop: async () => {
      await versions.stop();
      await new Promise<void>((resolve) => lines.end(resolve));
    },
  };
};

const roll = async (versions: Versions, voice: Voice): Promise<void> => {
  try {
    voice.say(`The provider was replaced by one that brings agent ${await versions.next()}.`);
  } catch (error) {
    voice.say(voice.bad(`It cannot be rolled: ${error instanceof Error ? error.message : String(error)}`));
  }
};

const onEnter = (stdin: NodeJS.ReadableStream, run: () => void): (() => void) => {
  stdin.on('data', run);
  stdin.resume();
  return () => {
    stdin.off('data', run);
    stdin.pause();
  };
};

const fired = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
