import { getCondition } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { age, ageSince } from '../show/age.ts';
import type { Tone } from '../show/look.ts';
import type { Cell, Row, Table } from '../show/table.ts';
import type { Page, View } from '../show/view.ts';
import { joinMacs, type Mac } from '../world/join.ts';
import { agentOf, isCordoned, readinessOf, slotsOf, vmsAmong, waitingOf } from '../world/node-facts.ts';
import type { Machine, World } from '../world/observe.ts';
import { worldSight } from '../world/world-sight.ts';
import type { FleetDocument, MacRow } from './document.ts';

const documentOf = (world: World): FleetDocument => ({
  schema: 'tartan.fleet/v1',
  at: timestamp(world.now),
  macs: joinMacs(world).map(rowOf),
  notes: [...world.notes],
});

const rowOf = ({ machine, host, node, pods }: Mac): MacRow => {
  const trouble = machine && troubleOf(machine);
  const upToDate = getCondition(machine?.status?.conditions, 'HostUpToDate')?.status;
  return {
    namespace: machine?.metadata.namespace ?? null,
    machine: machine?.metadata.name ?? null,
    fleet: machine ? machine.spec.fleetName || machine.metadata.name : null,
    phase: machine?.status?.phase ?? null,
    ready: getCondition(machine?.status?.conditions, 'Ready')?.status === 'True',
    reason: trouble?.reason ?? null,
    message: trouble?.message ?? null,
    upToDate: upToDate === 'True' ? true : upToDate === 'False' ? false : null,
    host: host?.metadata.name ?? null,
    serverName: host?.status?.name ?? null,
    type: host?.status?.type ?? null,
    zone: host?.spec.zone ?? null,
    os: host?.status?.osFamily ?? null,
    state: host?.status?.state ?? null,
    since: host?.status?.since ?? null,
    node: node?.metadata.name ?? null,
    nodeReady: node ? readinessOf(node) : null,
    cordoned: node ? isCordoned(node) : null,
    agent: (node && agentOf(node)) ?? null,
    slots: (node && slotsOf(node)) ?? null,
    vms:
      node && pods
        ? vmsAmong(pods).map((pod) => ({
            namespace: pod.metadata.namespace ?? '',
            name: pod.metadata.name,
            phase: pod.status?.phase ?? 'Pending',
            waiting: waitingOf(pod)?.reason ?? null,
          }))
        : null,
  };
};

/** In the order of a machine's life: what comes first keeps it from what comes after. */
const stations = ['Paused', 'Deleting', 'Provisioned', 'Bootstrapped', 'NodeReady', 'Ready', 'HostUpToDate'];
/** These say that something is the matter when they are True. */
const complaints: ReadonlySet<string> = new Set(['Paused', 'Deleting']);

const troubleOf = ({ status }: Machine): { reason: string; message: string } | undefined =>
  stations
    .flatMap((type) => getCondition(status?.conditions, type) ?? [])
    .find(({ type, status: said }) => (complaints.has(type) ? said === 'True' : said === 'False'));

const phaseTones: Readonly<Record<string, Tone>> = { Ready: 'good', Failed: 'bad', NotReady: 'bad' };
const stateTones: Readonly<Record<string, Tone>> = { stranded: 'bad', quarantined: 'warn', pool: 'dim' };
const toned = (text: string | null, tones: Readonly<Record<string, Tone>>, usual?: Tone): Cell => ({
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
  const severalNamespaces = new Set(macs.flatMap(({ namespace }) => namespace ?? [])).size > 1;
  const rows = macs.map(
    (mac): Row => ({
      key: mac.machine !== null ? `machine ${mac.namespace}/${mac.machine}` : `${mac.host ?? ''} ${mac.node ?? ''}`,
      cells: [
        ...(severalNamespaces ? [mac.namespace ?? ''] : []),
        mac.machine ?? '',
        mac.fleet === mac.machine ? '' : (mac.fleet ?? ''),
        toned(mac.machine !== null && mac.phase === null ? 'unseen' : mac.phase, phaseTones, 'warn'),
        mac.host ?? '',
        toned(mac.state, stateTones),
        { text: ageSince(mac.since, Date.parse(at)), passing: true },
        nodeCell(mac),
        mac.agent ?? '',
        vmsCell(mac),
        mac.reason === null ? '' : `${mac.reason}: ${firstSentence(mac.message ?? '')}`,
      ],
    }),
  );
  return { head: severalNamespaces ? ['NAMESPACE', ...head] : head, rows };
};

/** The rest is for `explain`. */
const firstSentence = (text: string): string => /^.*?[.!?](?= [A-Z])/.exec(text)?.[0] ?? text;

const pageOf = (document: FleetDocument): Page => ({
  tables: [tableOf(document)],
  lines: [summaryOf(document), ...document.notes],
});

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const summaryOf = ({ macs, at }: FleetDocument): string => {
  if (macs.length === 0)
    return 'There is no machine and no Mac here: nothing has asked for one, and the pool is empty.';
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

export const fleetView: View<FleetDocument> = { sight: worldSight, documentOf, pageOf, exitCode: () => 0 };
