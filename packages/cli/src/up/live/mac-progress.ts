import { existsSync, readdirSync } from 'node:fs';
import { hostSteps } from '@tartan/host';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { joinMacs, type Mac } from '../../cluster/macs.ts';
import type { ClusterState } from '../../cluster/state.ts';

/** How far a machine is on its way to a Node. */
export interface MacProgress {
  readonly machine: string;
  /** What is done to its Mac over SSH, in order. */
  readonly steps: readonly StepOnMac[];
  /** What goes on now. */
  readonly what: string;
  /** It has come as far as machines come; how it fares is for the table to say. */
  readonly isUp: boolean;
}

export interface StepOnMac {
  readonly title: string;
  readonly done: boolean;
}

/** One for each machine. `stepsOn` knows the Mac of that name; without one, nothing is done. Pure. */
export const progressOf = (
  world: ClusterState,
  stepsOn: (host: string | undefined, isBuilder: boolean) => readonly StepOnMac[],
): MacProgress[] =>
  joinMacs(world).flatMap((mac) => {
    if (mac.machine === undefined) return [];
    const steps = stepsOn(mac.host?.metadata.name, mac.machine.spec.ghActionsRunner !== undefined);
    const what = currentActivity(mac, steps);
    return [{ machine: mac.machine.metadata.name, steps, what: what ?? 'Ready', isUp: what === undefined }];
  });

/** Undefined: it is up, or was once. */
const currentActivity = ({ machine, node }: Mac, steps: readonly StepOnMac[]): string | undefined => {
  switch (machine?.status?.phase) {
    case undefined:
    case 'Pending':
      return 'waits for a Mac';
    case 'Adopting':
      return 'claims its Mac';
    case 'Bootstrapping':
      return steps.find(({ done }) => !done)?.title ?? joining;
    case 'NotReady':
      return node === undefined ? joining : undefined;
    case 'Ready':
    case 'Updating':
    case 'Failed':
    case 'Deleting':
      return undefined;
  }
};

const joining = 'joining';

/** A Mac also bears stamps of features that are off: proof that nothing of them is there. Our provider is not told to turn these on. */
const disabledSteps: ReadonlySet<string> = new Set(['tailscale', 'node-exporter']);
const builderSteps: ReadonlySet<string> = new Set(['builder-tools', 'actions-runner']);

/** What is done on a Mac, as its disk shows it: by stamps. */
export const stepsOnMac = (server: Pick<SimulatedServer, 'mac'> | undefined, isBuilder: boolean): StepOnMac[] => {
  const shown = hostSteps.filter(({ name }) => !disabledSteps.has(name) && (isBuilder || !builderSteps.has(name)));
  const folder = server?.mac?.path('/var/db/tartan/steps') ?? '';
  const stamps = new Set(existsSync(folder) ? readdirSync(folder) : []);
  return shown.map(({ name, title }) => ({ title, done: stamps.has(name) }));
};
