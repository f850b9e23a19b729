import { existsSync, readdirSync } from 'node:fs';
import { hostSteps } from '@tartan/host';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { joinMacs, type Mac } from '../../cluster/macs.ts';
import type { ClusterState } from '../../cluster/state.ts';

/** The progress of a machine until its Node is Ready. */
export interface MacProgress {
  readonly machine: string;
  /** The steps on its Mac, in order. */
  readonly steps: readonly StepOnMac[];
  /** The current activity. */
  readonly what: string;
  /** It is, or was, Ready: the table shows its state. */
  readonly isUp: boolean;
}

export interface StepOnMac {
  readonly title: string;
  readonly done: boolean;
}

/** The progress of each machine. Pure. */
export const progressOf = (
  state: ClusterState,
  stepsOn: (host: string | undefined, isBuilder: boolean) => readonly StepOnMac[],
): MacProgress[] =>
  joinMacs(state).flatMap((mac) => {
    if (mac.machine === undefined) return [];
    const steps = stepsOn(mac.host?.metadata.name, mac.machine.spec.ghActionsRunner !== undefined);
    const what = currentActivity(mac, steps);
    return [{ machine: mac.machine.metadata.name, steps, what: what ?? 'Ready', isUp: what === undefined }];
  });

/** Undefined: it is, or was, Ready. */
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

/** Steps of features that the simulation does not enable. They are stamped too. */
const disabledSteps: ReadonlySet<string> = new Set(['tailscale', 'node-exporter']);
const builderSteps: ReadonlySet<string> = new Set(['builder-tools', 'actions-runner']);

/** The steps on a Mac, by the stamps on its disk. */
export const stepsOnMac = (server: Pick<SimulatedServer, 'mac'> | undefined, isBuilder: boolean): StepOnMac[] => {
  const shown = hostSteps.filter(({ name }) => !disabledSteps.has(name) && (isBuilder || !builderSteps.has(name)));
  const folder = server?.mac?.path('/var/db/tartan/steps') ?? '';
  const stamps = new Set(existsSync(folder) ? readdirSync(folder) : []);
  return shown.map(({ name, title }) => ({ title, done: stamps.has(name) }));
};
