import { kindNames, type KindNames, machine } from '@tartan/api';
import type { Transport } from '@tartan/kube';
import { deploymentOf, fleetNamespace, type Simulation } from '@tartan/sim-fleet';
import { z } from 'zod';
import { tableLines } from '../output/table.ts';
import type { StyledLog, SuggestedCommand } from './live/up-view.ts';

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
    const lines = await kubectlTable(transport, path, signal);
    // In one piece: events are written in between.
    log.writeLine(['', log.bold(command), ...lines.map((line) => `  ${line}`)].join('\n'));
  }
};

/** What to try while the fleet runs. */
export const suggestedCommands = async (
  { controlPlane, folder, runners }: Simulation,
  pod: string,
): Promise<SuggestedCommand[]> => {
  const { items } = await controlPlane.client.list(machine.resource, { namespace: fleetNamespace });
  const name = items.find(({ status }) => status?.ready === true)?.metadata.name ?? 'NAME';
  return [
    { command: `export KUBECONFIG=${controlPlane.kubeconfig}` },
    { command: 'npm run tartan -- fleet --watch', comment: 'machines, Macs, Nodes and virtual machines' },
    { command: `npm run tartan -- explain ${name}`, comment: 'its state, the reason, and what you can do' },
    { command: `kubectl exec -it ${pod} -- sh`, comment: 'a shell in the virtual machine; logs -f and cp work too' },
    ...(runners
      ? [
          { command: 'npm run tartan -- runners macos', comment: 'runners of GitHub: idle, busy, and the job queue' },
          { command: 'npm run tartan -- fault queue-jobs', comment: 'queue more jobs than there are runners' },
        ]
      : []),
    {
      command: `kubectl scale md ${deploymentOf('runners')} --replicas=2`,
      comment: 'claims another Mac, or releases one',
    },
    { command: 'npm run tartan -- fault list', comment: 'incidents of the past that you can replay' },
    { command: `tail -f ${folder}/*.log`, comment: 'logs of the provider and the other controllers' },
  ];
};

const tableAnswer = z.object({
  columnDefinitions: z.array(z.object({ name: z.string(), priority: z.number() })),
  rows: z.array(z.object({ cells: z.array(z.unknown()) })).nullish(),
});

const tableMediaType = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** The lines that `kubectl get` prints for this path, without empty columns. The server renders the table. */
export const kubectlTable = async (transport: Transport, path: string, signal: AbortSignal): Promise<string[]> => {
  const answer = await transport.send({ method: 'GET', path, headers: { accept: tableMediaType }, signal });
  const parts: Uint8Array[] = [];
  for await (const part of answer.body) parts.push(part);
  const { columnDefinitions, rows } = tableAnswer.parse(JSON.parse(Buffer.concat(parts).toString()));
  const shown = columnDefinitions.flatMap(({ priority, name }, at) => (priority === 0 ? [{ name, at }] : []));
  return tableLines(
    {
      head: shown.map(({ name }) => name.toUpperCase()),
      rows: (rows ?? []).map(({ cells }) => ({ key: '', cells: shown.map(({ at }) => cellText(cells[at])) })),
    },
    { style: { colours: false } },
  );
};

const cellText = (cell: unknown): string => {
  if (typeof cell === 'string') return cell;
  return typeof cell === 'number' || typeof cell === 'boolean' ? String(cell) : '';
};
