import { getCondition, isConditionTrue } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { z } from 'zod';
import {
  agentOf,
  isCordoned,
  joinMacs,
  type Mac,
  readinessOf,
  slotsOf,
  vmPods,
  waitingReasonOf,
} from '../cluster/macs.ts';
import { type ClusterState, type Machine, readClusterState } from '../cluster/state.ts';
import { age, ageCell } from '../output/age.ts';
import { type Cell, type Row, type Table, withNamespaces } from '../output/table.ts';
import { counted, type Tone } from '../output/terminal-text.ts';
import { documentSchema, fill, nullable, type Page, type View } from '../output/view.ts';

const vmSchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    phase: z.string().describe('Of the Pod.'),
    waiting: nullable(z.string(), 'The waiting reason that the agent reports.'),
  })
  .describe('A Pod that is, or becomes, a virtual machine.');

const macSchema = z.object({
  namespace: nullable(z.string(), 'Of the machine.'),
  machine: nullable(z.string(), 'A ScalewayAppleSiliconMachine.'),
  fleet: nullable(z.string(), 'The MacFleet it rolls with.'),
  phase: nullable(z.string(), 'Of the machine.'),
  ready: z.boolean().describe('The machine is Ready: its Mac runs and its Node is Ready.'),
  reason: nullable(z.string(), 'What keeps the machine from being Ready or up to date: the reason of a condition.'),
  message: nullable(z.string(), 'The message of that condition.'),
  upToDate: nullable(z.boolean(), 'The Mac has the desired configuration.'),
  host: nullable(z.string(), 'The MacHost.'),
  serverName: nullable(z.string(), 'Its name at Scaleway.'),
  type: nullable(z.string()),
  zone: nullable(z.string()),
  os: nullable(z.string(), 'Release family of macOS.'),
  state: nullable(z.string(), 'Of the MacHost: pool, held, releasing, quarantined or stranded.'),
  since: nullable(z.string(), 'When that state began.'),
  node: nullable(z.string()),
  nodeReady: nullable(z.enum(['True', 'False', 'Unknown'])),
  cordoned: nullable(z.boolean(), 'The Node is unschedulable.'),
  agent: nullable(z.string(), 'Version of the agent.'),
  slots: nullable(z.number(), 'Virtual machines that it can run at once.'),
  vms: nullable(z.array(vmSchema), 'null: Pods may not be read.'),
});

export const fleetDocument = documentSchema('tartan.fleet/v1', {
  macs: z.array(macSchema).describe('Machines first, then Macs without a machine, then Nodes without both.'),
});

export type FleetDocument = z.infer<typeof fleetDocument>;
export type MacRow = z.infer<typeof macSchema>;

const documentOf = (state: ClusterState): FleetDocument => ({
  schema: 'tartan.fleet/v1',
  at: timestamp(state.now),
  macs: joinMacs(state).map(macRow),
  notes: [...state.notes],
});

const macRow = ({ machine, host, node, pods }: Mac): MacRow => {
  const failing = machine && failingCondition(machine);
  const upToDate = getCondition(machine?.status?.conditions, 'HostUpToDate')?.status;
  return fill(macSchema, {
    namespace: machine?.metadata.namespace,
    machine: machine?.metadata.name,
    fleet: machine && (machine.spec.fleetName || machine.metadata.name),
    phase: machine?.status?.phase,
    ready: isConditionTrue(machine?.status?.conditions, 'Ready'),
    reason: failing?.reason,
    message: failing?.message,
    upToDate: upToDate === 'True' ? true : upToDate === 'False' ? false : null,
    ...host?.status,
    host: host?.metadata.name,
    serverName: host?.status?.name,
    zone: host?.spec.zone,
    os: host?.status?.osFamily,
    node: node?.metadata.name,
    nodeReady: node && readinessOf(node),
    cordoned: node && isCordoned(node),
    agent: node && agentOf(node),
    slots: node && slotsOf(node),
    vms:
      node &&
      pods &&
      vmPods(pods).map((pod) => ({
        namespace: pod.metadata.namespace ?? '',
        name: pod.metadata.name,
        phase: pod.status?.phase ?? 'Pending',
        waiting: waitingReasonOf(pod)?.reason,
      })),
  });
};

/** In the order in which a machine becomes Ready. */
const conditionOrder = ['Paused', 'Deleting', 'Provisioned', 'Bootstrapped', 'NodeReady', 'Ready', 'HostUpToDate'];
/** Conditions that are bad when True. */
const negativeConditions: ReadonlySet<string> = new Set(['Paused', 'Deleting']);

const failingCondition = ({ status }: Machine): { reason: string; message: string } | undefined =>
  conditionOrder
    .flatMap((type) => getCondition(status?.conditions, type) ?? [])
    .find(({ type, status: value }) => value === (negativeConditions.has(type) ? 'True' : 'False'));

const phaseTones: Readonly<Record<string, Tone>> = { Ready: 'good', Failed: 'bad', NotReady: 'bad' };
const stateTones: Readonly<Record<string, Tone>> = { stranded: 'bad', quarantined: 'warn', pool: 'dim' };
const tonedCell = (text: string | null, tones: Readonly<Record<string, Tone>>, usual?: Tone): Cell => ({
  text: text ?? '',
  tone: tones[text ?? ''] ?? usual,
});

const nodeCell = ({ node, machine, nodeReady, cordoned }: MacRow): Cell => {
  if (node === null) return '';
  const word = nodeReady === 'True' ? 'Ready' : nodeReady === 'False' ? 'NotReady' : 'Unknown';
  const name = node === machine ? '' : `${node} `;
  const tone = nodeReady !== 'True' ? 'bad' : cordoned === true ? 'warn' : 'good';
  return { text: `${name}${word}${cordoned === true ? ', cordoned' : ''}`, tone };
};

const vmsCell = ({ node, vms, slots }: MacRow): string => {
  if (node === null) return '';
  if (vms === null) return '?';
  const names = vms.map(({ name, waiting }) => (waiting === null ? name : `${name} (${waiting})`));
  return `${vms.length}/${slots ?? '?'} ${names.join(', ')}`.trimEnd();
};

const head = ['MACHINE', 'FLEET', 'PHASE', 'HOST', 'STATE', 'FOR', 'NODE', 'AGENT', 'VMS', 'WHY'];

const tableOf = ({ macs, at }: FleetDocument): Table => {
  const rows = macs.map(
    (mac): Row => ({
      key: mac.machine !== null ? `machine ${mac.namespace}/${mac.machine}` : `${mac.host ?? ''} ${mac.node ?? ''}`,
      cells: [
        mac.machine ?? '',
        mac.fleet === mac.machine ? '' : (mac.fleet ?? ''),
        tonedCell(mac.machine !== null && mac.phase === null ? 'unseen' : mac.phase, phaseTones, 'warn'),
        mac.host ?? '',
        tonedCell(mac.state, stateTones),
        ageCell(mac.since, at),
        nodeCell(mac),
        mac.agent ?? '',
        vmsCell(mac),
        mac.reason === null ? '' : `${mac.reason}: ${firstSentence(mac.message ?? '')}`,
      ],
    }),
  );
  return withNamespaces(
    { head, rows },
    macs.map(({ namespace }) => namespace),
  );
};

/** `explain` shows the rest. */
const firstSentence = (text: string): string => /^.*?[.!?](?= [A-Z])/.exec(text)?.[0] ?? text;

const pageOf = (document: FleetDocument): Page => ({
  tables: [tableOf(document)],
  lines: [summaryOf(document), ...document.notes],
});

const summaryOf = ({ macs, at }: FleetDocument): string => {
  if (macs.length === 0) return 'There are no machines and no Macs.';
  const machines = macs.filter(({ machine }) => machine !== null);
  const waiting = machines.filter(({ host }) => host === null).length;
  const stranded = macs.filter(({ state, machine }) => machine === null && state === 'stranded');
  const oldest = stranded.map(({ since }) => Date.parse(since ?? '')).filter(Number.isFinite);
  const vms = macs.reduce((sum, mac) => sum + (mac.vms?.length ?? 0), 0);
  const parts = [
    `${machines.filter(({ ready }) => ready).length} of ${counted(machines.length, 'machine')} Ready`,
    counted(vms, 'virtual machine'),
    `${macs.filter(({ machine, state }) => machine === null && state === 'pool').length} free in the pool`,
    ...(waiting > 0 ? [`${counted(waiting, 'machine')} without a Mac`] : []),
    ...(stranded.length > 0
      ? [
          `${stranded.length} stranded${oldest.length > 0 ? ` for up to ${age(Date.parse(at) - Math.min(...oldest))}` : ''} (tartan orphans)`,
        ]
      : []),
  ];
  return `${parts.join(', ')}. Why something is as it is: tartan explain NAME.`;
};

export const fleetView: View<FleetDocument> = { read: readClusterState, documentOf, pageOf, exitCode: () => 0 };
