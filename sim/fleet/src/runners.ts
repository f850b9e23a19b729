import { join } from 'node:path';
import { labels, runnerPool } from '@tartan/api';
import { type Client, grantPolicyRules, ignoreNotFound, pods, secrets, serviceAccounts } from '@tartan/kube';
import { parseFlags, runnersRBACRules } from '@tartan/runners';
import type { SimulatedGitHub } from '@tartan/sim-github';
import { type ControlPlane, fleetNamespace as namespace, writeKubeconfig } from './control-plane.ts';
import { appSecretName, organization } from './github.ts';
import { type Installer, pollUntil } from './installer.ts';
import {
  createManagerDeployment,
  type ManagerDeployment,
  type ManagerDeploymentOptions,
} from './manager-deployment.ts';

export const poolName = 'macos';
/** The image of the pool, by release. */
export const runnerImage = (release: number): string => `ghcr.io/example/macos-tahoe-xcode:26.${release}`;

/** macOS allows two virtual machines on a Mac. */
const vmsPerMac = 2;
const halfMac = { podCPUMilli: 4000, podMemoryMB: 6144 } as const;

/** A pool with as many runners as fit on so many Macs. An existing pool keeps its size. */
export const ensureRunnerPool = ({ ensure }: Installer, macs: number): Promise<void> =>
  ensure(
    runnerPool.resource,
    runnerPool.make({
      metadata: { namespace, name: poolName },
      spec: {
        replicas: vmsPerMac * macs,
        image: runnerImage(1),
        fleetSelector: 'runners',
        ...halfMac,
        // Half of a pool this small: one of two.
        rollout: { maxConcurrentPercent: 50 },
        github: { organization, appSecretName },
      },
    }),
  );

const account = { namespace, name: 'tartan-runners' } as const;

/** Shorter times than in production: a simulated job starts within three seconds. */
const runnersFlags: readonly string[] = [
  `--namespace=${namespace}`,
  '--metrics-bind-address=0',
  '--health-probe-bind-address=0',
  '--settle-seconds=6',
  '--stuck-after-seconds=120',
];

/** The service account of the controller, with its permissions. */
export const installRunners = async ({ ensure }: Installer): Promise<void> => {
  await ensure(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const parsed = parseFlags(runnersFlags, {});
  if (!('options' in parsed)) throw new Error('errors' in parsed ? parsed.errors.join('\n') : parsed.help);
  await grantPolicyRules(ensure, account.name, { account }, runnersRBACRules(parsed.options));
};

/** The simulated GitHub, and the runners controller. */
export interface SimulatedRunners {
  readonly github: SimulatedGitHub;
  readonly controller: ManagerDeployment;
  /** The log file of the controller. */
  readonly log: string;
}

interface RunnersOptions {
  readonly program: string;
  readonly controlPlane: ControlPlane;
  readonly folder: string;
  readonly runners?: { readonly flags?: readonly string[] };
  readonly onCrash?: ManagerDeploymentOptions['onCrash'];
}

/** Starts the runners controller as a process with its own service account. */
export const startRunners = async (github: SimulatedGitHub, options: RunnersOptions): Promise<SimulatedRunners> => {
  const { program, controlPlane, folder, runners, onCrash } = options;
  const log = join(folder, 'runners.log');
  const kubeconfig = await writeKubeconfig(controlPlane, folder, { account, name: 'runners' });
  const displayName = 'the runners controller';
  const controller = createManagerDeployment({ displayName, program, environment: {}, log, onCrash });
  const where = [`--kubeconfig=${kubeconfig}`, `--github-api-url=${github.url}`];
  await controller.replace([...runnersFlags, ...where, ...(runners?.flags ?? [])]);
  return { github, controller, log };
};

/** Deletes the pool and its Pods from a cluster that existed before. Their jobs end with the Macs. */
export const deleteRunners = async (client: Client): Promise<void> => {
  const pool = { namespace, name: poolName };
  await ignoreNotFound(client.delete(runnerPool.resource, pool));
  const finalizers = { metadata: { finalizers: [] } };
  await ignoreNotFound(client.patch(runnerPool.resource, pool, { type: 'merge', body: finalizers }));
  const selection = { namespace, labelSelector: `${labels.runnerPool}=${poolName}` };
  let left = 0;
  const deleteAll = async (): Promise<boolean> => {
    const { items } = await client.list(pods, selection);
    left = items.length;
    for (const { metadata } of items) {
      const which = { namespace, name: metadata.name };
      if (metadata.deletionTimestamp === undefined) await ignoreNotFound(client.delete(pods, which));
      await ignoreNotFound(client.delete(secrets, which));
      await ignoreNotFound(client.delete(serviceAccounts, which));
    }
    return left === 0;
  };
  await pollUntil(
    deleteAll,
    () => `${left} runner Pods are still there six minutes after their deletion. Check their Nodes.`,
  );
};
