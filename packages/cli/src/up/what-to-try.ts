import { kindNames, type KindNames, machine } from '@tartan/api';
import type { Transport } from '@tartan/kube';
import { aligned } from '../aligned.ts';
import { fleetNamespace } from '../simulation/control-plane.ts';
import { deploymentOf } from '../simulation/fleets.ts';
import type { Simulation } from '../simulation/simulation.ts';
import { kubectlTable } from './kubectl-table.ts';
import type { UpView } from './live/up-view.ts';
import type { Voice } from './voice.ts';

const pathOf = ({ group, version, plural, namespaced }: KindNames): string =>
  `/apis/${group}/${version}/${namespaced ? `namespaces/${fleetNamespace}/` : ''}${plural}`;

const shown = [
  ['kubectl get machinedeployments', `/apis/cluster.x-k8s.io/v1beta2/namespaces/${fleetNamespace}/machinedeployments`],
  ['kubectl get machosts', pathOf(kindNames.macHost)],
  ['kubectl get samm', pathOf(kindNames.machine)],
  ['kubectl get macfleets', pathOf(kindNames.macFleet)],
  ['kubectl get pods', `/api/v1/namespaces/${fleetNamespace}/pods`],
] as const;

/** Fleets, pool, machines and Pods, as kubectl prints them. */
export const showFleet = async (transport: Transport, voice: Voice, signal: AbortSignal): Promise<void> => {
  for (const [command, path] of shown) {
    voice.say();
    voice.say(voice.bold(command));
    for (const line of await kubectlTable(transport, path, signal)) voice.say(`  ${line}`);
  }
};

export interface WhatToTry {
  readonly simulation: Simulation;
  readonly metricsPort: number;
  /** The Pod that runs. */
  readonly pod: string;
  /** What was said to be kept, and where. */
  readonly data: string | undefined;
}

export const showWhatToTry = async (view: UpView, { simulation, metricsPort, pod, data }: WhatToTry): Promise<void> => {
  const { controlPlane, macs, runners, log } = simulation;
  const { items } = await controlPlane.client.list(machine.resource, { namespace: fleetNamespace });
  const [name = 'NAME'] = items.filter(({ status }) => status?.ready === true).map(({ metadata }) => metadata.name);
  const say = (rows: readonly (readonly [string, string])[]): void => {
    for (const line of aligned(rows.map(([left, right]) => [left, view.dim(right)]))) view.print(`  ${line}`);
  };
  view.print();
  say([
    [controlPlane.url, 'the Kubernetes API'],
    ...(runners ? [[runners.github.url, 'the API of the simulated GitHub'] as const] : []),
    [`http://127.0.0.1:${metricsPort}/metrics`, 'what the provider tells Prometheus'],
    [macs.scaleway.url, 'the API of the simulated Scaleway'],
    [log, 'what the provider logs'],
    ...(runners ? [[runners.log, 'what the runners controller logs'] as const] : []),
  ]);
  view.print();
  view.print('In another terminal:');
  view.print(`  export KUBECONFIG=${controlPlane.kubeconfig}`);
  say([
    ['npm run tartan -- fleet --watch', '# machines, Macs, Nodes and virtual machines, as they change'],
    [`npm run tartan -- explain ${name}`, '# why it is where it is, what comes next, what you could do'],
    [`kubectl exec -it ${pod} -- sh`, '# a shell in the guest; kubectl logs -f, cp and port-forward work too'],
    ...(runners
      ? [
          [
            'npm run tartan -- runners macos',
            '# runners of GitHub: warm, busy, what waits in the queue and why',
          ] as const,
          ['npm run tartan -- fault queue-jobs', '# more jobs at once than there are runners'] as const,
        ]
      : []),
    [
      `kubectl scale md ${deploymentOf('runners')} --replicas=2`,
      '# one more Mac is claimed, or one is wiped and given back',
    ],
    ['npm run tartan -- fault list', '# what went wrong once: play it, and watch what happens now'],
  ]);
  view.print();
  const end = data === undefined ? 'Ctrl-C stops it and removes everything it made.' : 'Ctrl-C stops it and keeps it.';
  view.print(end);
  view.keys(`Enter rolls a new version of the agent onto the fleet. ${end}`);
};
