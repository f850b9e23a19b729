import { labels, macTaint } from '@tartan/api';
import { type daemonSets, type Live, pods } from '@tartan/kube';
import { succeeded } from './asserts.ts';
import type { Stage } from './stage.ts';
import { namespace } from './values.ts';

type DaemonSet = NonNullable<(typeof daemonSets)['ofType']>;
type Pod = Live<NonNullable<(typeof pods)['ofType']>>;

const onAMac = (fleet: string) => ({
  nodeSelector: { [labels.fleet]: fleet },
  tolerations: [{ key: macTaint.key, operator: 'Exists' as const }],
});
const vm = { name: 'vm', image: 'ghcr.io/example/macos-tahoe-xcode:26.1' };

/** A virtual machine on a Mac of the fleet. It runs when this resolves, and goes on until it is told to end. */
export const startPod = async (
  stage: Stage,
  name: string,
  fleet: string,
  more: Record<string, string> = {},
): Promise<Pod> => {
  await stage.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: more },
    spec: { ...onAMac(fleet), restartPolicy: 'Never', containers: [vm] },
  });
  return stage.waitFor(pods, name, 'runs', ({ status }) => status?.phase === 'Running');
};

/** A job of continuous integration. */
export const startJob = (stage: Stage, name: string, fleet: string): Promise<Pod> =>
  startPod(stage, name, fleet, { 'tuist.dev/runner': 'true' });

/** The job has done its work: it ends by itself. */
export const finishJob = async (stage: Stage, name: string): Promise<void> => {
  succeeded(stage, await stage.kubectl('exec', name, '--', 'touch', 'done'));
};

export const daemonSet = (name: string, fleet: string): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { namespace, name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { ...onAMac(fleet), containers: [vm] } },
  },
});
