import { join } from 'node:path';
import { grantRights, serviceAccounts } from '@tartan/kube';
import { parseFlags, runnersRights } from '@tartan/runners';
import type { SimulatedGitHub } from '@tartan/sim-github';
import { type ControlPlane, fleetNamespace as namespace } from './control-plane.ts';
import type { Furniture } from './furniture.ts';
import { writeKubeconfig } from './process-kubeconfig.ts';
import { createProviders, type Providers } from './providers.ts';

/** As whom the runners controller works. */
const account = { namespace, name: 'tartan-runners' } as const;

/** Nobody here waits for two minutes: an agent tells of a job that has begun within three seconds. */
const usualFlags: readonly string[] = [
  `--namespace=${namespace}`,
  '--metrics-bind-address=0',
  '--health-probe-bind-address=0',
  '--settle-seconds=6',
  '--stuck-after-seconds=120',
];

/** The account of the controller, with its rights and no others. */
export const furnishRunners = async ({ ensure }: Furniture): Promise<void> => {
  await ensure(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const parsed = parseFlags(usualFlags, {});
  if (!('options' in parsed)) throw new Error('errors' in parsed ? parsed.errors.join('\n') : parsed.help);
  await grantRights(ensure, account.name, { account }, runnersRights(parsed.options));
};

/** GitHub, and whoever looks after its runners. */
export interface SimulatedRunners {
  readonly github: SimulatedGitHub;
  readonly controller: Providers;
  /** Where the controller logs. */
  readonly log: string;
}

export interface RunnersOptions {
  readonly program: string;
  readonly controlPlane: ControlPlane;
  readonly folder: string;
  readonly runners?: { readonly flags?: readonly string[] };
  readonly onCrash?: (code: number | null, what: string) => void;
}

/** Their controller as a process of its own, with the rights of its own account. */
export const startRunners = async (github: SimulatedGitHub, options: RunnersOptions): Promise<SimulatedRunners> => {
  const { program, controlPlane, folder, runners, onCrash } = options;
  const log = join(folder, 'runners.log');
  const kubeconfig = await writeKubeconfig(controlPlane, folder, { account, name: 'runners' });
  const what = 'the runners controller';
  const controller = createProviders({ what, program, environment: {}, log, ...(onCrash && { onCrash }) });
  const where = [`--kubeconfig=${kubeconfig}`, `--github-api-url=${github.url}`];
  await controller.replace([...usualFlags, ...where, ...(runners?.flags ?? [])]);
  return { github, controller, log };
};
