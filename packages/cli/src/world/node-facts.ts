import { annotations } from '@tartan/api';
import { suitabilityOf } from '@tartan/tart-kubelet/suitability';
import type { Node, Pod } from './observe.ts';

/** As its Node says; `Unknown` also when it says nothing. */
export const readinessOf = ({ status }: Node): 'True' | 'False' | 'Unknown' => {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return ready === 'True' || ready === 'False' ? ready : 'Unknown';
};

export const agentOf = ({ metadata }: Node): string | undefined => metadata.annotations?.[annotations.agentVersion];

/** How many virtual machines it takes at a time. */
export const slotsOf = ({ status }: Node): number | undefined => {
  const slots = Number(status?.allocatable?.['pods'] ?? Number.NaN);
  return Number.isFinite(slots) ? slots : undefined;
};

export const isCordoned = ({ spec }: Node): boolean => spec?.unschedulable === true;
export const isCordonedForRoll = ({ metadata }: Node): boolean =>
  annotations.cordonedForRoll in (metadata.annotations ?? {});

/** What its container waits for, in the agent's word. */
export const waitingOf = ({ status }: Pod): { reason: string; message: string } | undefined => {
  const waiting = status?.containerStatuses?.[0]?.state?.waiting;
  return waiting?.reason ? { reason: waiting.reason, message: waiting.message ?? '' } : undefined;
};

/** Those that are, or become, virtual machines. What came to a Mac by mistake takes no slot. */
export const vmsAmong = (pods: readonly Pod[]): Pod[] =>
  pods.filter((pod) => suitabilityOf(pod).kind !== 'not for Macs').sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;
