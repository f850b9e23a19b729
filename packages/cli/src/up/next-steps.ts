import { kindNames, type KindNames, machine } from '@tartan/api';
import type { Transport } from '@tartan/kube';
import { z } from 'zod';
import { alignColumns } from '../output/table.ts';
import { fleetNamespace } from '../simulation/control-plane.ts';
import { deploymentOf } from '../simulation/fleets.ts';
import type { Simulation } from '../simulation/simulation.ts';
import type { StyledLog, UpView } from './live/up-view.ts';

const pathOf = ({ group, version, plural, namespaced }: KindNames): string =>
  `/apis/${group}/${version}/${namespaced ? `namespaces/${fleetNamespace}/` : ''}${plural}`;

const shownObjects = [
  ['kubectl get machinedeployments', `/apis/cluster.x-k8s.io/v1beta2/namespaces/${fleetNamespace}/machinedeployments`],
  ['kubectl get machosts', pathOf(kindNames.macHost)],
  ['kubectl get samm', pathOf(kindNames.machine)],
  ['kubectl get macfleets', pathOf(kindNames.macFleet)],
  ['kubectl get pods', `/api/v1/namespaces/${fleetNamespace}/pods`],
] as const;

/** Fleets, pool, machines and Pods, as kubectl prints them. */
export const printObjects = async (transport: Transport, log: StyledLog, signal: AbortSignal): Promise<void> => {
  for (const [command, path] of shownObjects) {
    log.writeLine();
    log.writeLine(log.bold(command));
    for (const line of await kubectlTable(transport, path, signal)) log.writeLine(`  ${line}`);
  }
};

interface NextSteps {
  readonly simulation: Simulation;
  readonly metricsPort: number;
  /** The Pod that runs. */
  readonly pod: string;
  /** What was said to be kept, and where. */
  readonly data: string | undefined;
}

export const printNextSteps = async (
  view: UpView,
  { simulation, metricsPort, pod, data }: NextSteps,
): Promise<void> => {
  const { controlPlane, macs, runners, log } = simulation;
  const { items } = await controlPlane.client.list(machine.resource, { namespace: fleetNamespace });
  const [name = 'NAME'] = items.filter(({ status }) => status?.ready === true).map(({ metadata }) => metadata.name);
  const say = (rows: readonly (readonly [string, string])[]): void => {
    for (const line of alignColumns(rows.map(([left, right]) => [left, view.dim(right)]))) view.print(`  ${line}`);
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

const tableAnswer = z.object({
  columnDefinitions: z.array(z.object({ name: z.string(), priority: z.number() })),
  rows: z.array(z.object({ cells: z.array(z.unknown()) })).nullish(),
});

const tableMediaType = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** What `kubectl get` prints for this path of the API, line by line, its head first: the server makes it, for kubectl as for us. */
export const kubectlTable = async (transport: Transport, path: string, signal: AbortSignal): Promise<string[]> => {
  const answer = await transport.send({ method: 'GET', path, headers: { accept: tableMediaType }, signal });
  const parts: Uint8Array[] = [];
  for await (const part of answer.body) parts.push(part);
  const { columnDefinitions, rows } = tableAnswer.parse(JSON.parse(Buffer.concat(parts).toString()));
  const shown = columnDefinitions.flatMap(({ priority, name }, at) => (priority === 0 ? [{ name, at }] : []));
  const head = shown.map(({ name }) => name.toUpperCase());
  return alignColumns([head, ...(rows ?? []).map(({ cells }) => shown.map(({ at }) => cellText(cells[at])))]);
};

const cellText = (cell: unknown): string => {
  if (typeof cell === 'string') return cell;
  return typeof cell === 'number' || typeof cell === 'boolean' ? String(cell) : '';
};
