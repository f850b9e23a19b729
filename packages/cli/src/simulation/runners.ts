import { join } from 'node:path';
import { labels, runnerPool } from '@tartan/api';
import { type Client, grantPolicyRules, pods, secrets, serviceAccounts } from '@tartan/kube';
import { sleep, systemClock as clock } from '@tartan/kube/clock';
import { parseFlags, runnersRBACRules } from '@tartan/runners';
import type { SimulatedGitHub } from '@tartan/sim-github';
import { type ControlPlane, fleetNamespace as namespace, writeKubeconfig } from './control-plane.ts';
import { appSecretName, organization } from './github.ts';
import { ignoreNotFound, type Installer } from './installer.ts';
import { createManagerDeployment, type ManagerDeployment } from './manager-deployment.ts';

/** Of the one pool of the simulation. */
export const poolName = 'macos';
/** Images of a pool, in the order in which they are rolled out. */
export const runnerImage = (release: number): string => `ghcr.io/example/macos-tahoe-xcode:26.${release}`;

/** Two virtual machines fit on a Mac, which is what macOS allows. */
const vmsPerMac = 2;
const halfMac = { podCPUMilli: 4000, podMemoryMB: 6144 } as const;

/** As many runners as fit on so many Macs. One that is there keeps its size: somebody may have scaled it. */
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

/** As whom the runners controller works. */
const account = { namespace, name: 'tartan-runners' } as const;

/** Nobody here waits for two minutes: an agent tells of a job that has begun within three seconds. */
const runnersFlags: readonly string[] = [
  `--namespace=${namespace}`,
  '--metrics-bind-address=0',
  '--health-probe-bind-address=0',
  '--settle-seconds=6',
  '--stuck-after-seconds=120',
];

/** The account of the controller, with its rights and no others. */
export const installRunners = async ({ ensure }: Installer): Promise<void> => {
  await ensure(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const parsed = parseFlags(runnersFlags, {});
  if (!('options' in parsed)) throw new Error('errors' in parsed ? parsed.errors.join('\n') : parsed.help);
  await grantPolicyRules(ensure, account.name, { account }, runnersRBACRules(parsed.options));
};

/** GitHub, and whoever looks after its runners. */
export interface SimulatedRunners {
  readonly github: SimulatedGitHub;
  readonly controller: ManagerDeployment;
  /** Where the controller logs. */
  readonly log: string;
}

interface RunnersOptions {
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
  const displayName = 'the runners controller';
  const controller = createManagerDeployment({
    displayName,
    program,
    environment: {},
    log,
    ...(onCrash && { onCrash }),
  });
  const where = [`--kubeconfig=${kubeconfig}`, `--github-api-url=${github.url}`];
  await controller.replace([...runnersFlags, ...where, ...(runners?.flags ?? [])]);
  return { github, controller, log };
};

const deletionPollMs = 200;
const deletionTimeoutMs = 60_000;

/**
 * Takes the pool and all that it made out of a cluster that goes on without us. Its controller has ended by now, and with it the
 * promise to wait for jobs: the Macs that they run on are about to go, too.
 */
export const deleteRunners = async (client: Client): Promise<void> => {
  const pool = { namespace, name: poolName };
  await ignoreNotFound(client.delete(runnerPool.resource, pool));
  const finalizers = { metadata: { finalizers: [] } };
  await ignoreNotFound(client.patch(runnerPool.resource, pool, { type: 'merge', body: finalizers }));
  const selection = { namespace, labelSelector: `${labels.runnerPool}=${poolName}` };
  const deadline = AbortSignal.timeout(deletionTimeoutMs);
  for (;;) {
    const { items } = await client.list(pods, selection);
    if (items.length === 0) return;
    if (deadline.aborted) throw new Error(`${items.length} runner Pods were deleted and do not go: see their Nodes.`);
    for (const { metadata } of items) {
      const which = { namespace, name: metadata.name };
      if (metadata.deletionTimestamp === undefined) await ignoreNotFound(client.delete(pods, which));
      await ignoreNotFound(client.delete(secrets, which));
      await ignoreNotFound(client.delete(serviceAccounts, which));
    }
    await sleep(clock, deletionPollMs, deadline);
  }
};
