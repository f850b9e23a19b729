import { annotations, formatProviderID, type MachineStatus } from '@tartan/api';
import type { Live } from '@tartan/kube';
import type { Absences } from '../pods/absences.ts';
import type { Node } from './options.ts';
import type { Machine } from './record.ts';
import type { NodeFacts } from './snapshot.ts';

/** To the byte what the agent was told, and what Cluster API binds by (C8). Undefined without a server. */
export const providerIDOf = ({ spec, status }: Machine): string | undefined =>
  spec.providerID || (status?.serverID ? formatProviderID({ zone: spec.zone, serverID: status.serverID }) : undefined);

export const nodeFacts = (node: Live<Node> | undefined, machine: Machine, absences: Absences): NodeFacts => {
  const { name } = machine.metadata;
  // Nobody misses the Node of a Mac that was never made ready.
  const expected = machine.status?.initialization?.provisioned === true;
  if (node === undefined && expected) return { kind: 'missing', forMs: absences.missingForMs(name) };
  absences.forget(name);
  if (node === undefined) return { kind: 'missing', forMs: 0 };
  const providerID = node.spec?.providerID;
  if (providerID && providerID !== providerIDOf(machine)) return { kind: 'foreign', providerID };
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    kind: 'ours',
    ready: ready?.status === 'True' || ready?.status === 'False' ? ready.status : 'Unknown',
    message: ready?.message ?? '',
    summary: node.metadata.annotations?.[annotations.hostConfigHash] || undefined,
    unschedulable: node.spec?.unschedulable === true,
    cordonedByUs: annotations.cordonedForRoll in (node.metadata.annotations ?? {}),
  };
};

type Address = NonNullable<MachineStatus['addresses']>[number];

const isKnown = (type: string): type is Address['type'] =>
  ['Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS'].includes(type);

/** Those of a Node that is the machine's own. */
export const nodeAddresses = (node: Live<Node> | undefined, facts: NodeFacts): readonly Address[] =>
  facts.kind !== 'ours'
    ? []
    : (node?.status?.addresses ?? []).flatMap(({ type, address }) =>
        isKnown(type) && address ? [{ type, address }] : [],
      );
