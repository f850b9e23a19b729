import { isDeepStrictEqual } from 'node:util';
import { getControllerOf, type Live } from '@tartan/kube';
import { isInterruptible } from '../external/contract.ts';
import { annotations, labels, nodeAnnotations, nodeLabelDomains, nodeTaints } from '../names.ts';
import type { Node, Snapshot } from './snapshot.ts';

type Entries = Readonly<Record<string, string>>;
type Taint = { key: string; effect: string; value?: string };

const isBelow = (key: string, domain: string): boolean => {
  const [prefix = ''] = key.split('/');
  return prefix === domain || prefix.endsWith(`.${domain}`);
};

const entriesBelow = (entries: Entries = {}, domains: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(entries).filter(([key]) => domains.some((domain) => isBelow(key, domain))));

/** Removes entries that came from the Machine earlier, and that it does not have any more. */
const changedEntries = (
  before: Entries,
  wanted: Entries,
  cameBefore: string | undefined,
): Record<string, string | null> => ({
  ...Object.fromEntries(
    (cameBefore ?? '')
      .split(',')
      .filter((key) => key !== '' && !(key in wanted) && key in before)
      .map((key) => [key, null]),
  ),
  ...Object.fromEntries(Object.entries(wanted).filter(([key, value]) => before[key] !== value)),
});

const names = (entries: Entries): string => Object.keys(entries).sort().join(',');

const sameTaint = (a: Taint, b: { key: string; effect: string }): boolean => a.key === b.key && a.effect === b.effect;

/** The Node of a Machine that will be replaced gets a PreferNoSchedule taint. */
const isOutdated = ({ machineSet, machineDeployment }: Snapshot): boolean => {
  const revision = ({ metadata }: { metadata: { annotations?: Record<string, string> } }): number =>
    Number(metadata.annotations?.[annotations.revision] ?? 0);
  return (
    machineSet !== undefined && machineDeployment !== undefined && revision(machineSet) < revision(machineDeployment)
  );
};

/** Core's changes to the Node of a Machine: its owner, some labels of the Machine, and core's taints. Undefined: nothing to change. */
export const nodePatch = (node: Live<Node>, snapshot: Snapshot): object | undefined => {
  const { machine, infrastructure } = snapshot;
  const meta: { annotations?: Record<string, string>; labels?: Record<string, string>; namespace?: string } =
    machine.metadata;
  const owner = getControllerOf(machine);
  const marks: Record<string, string> = {
    ...entriesBelow(meta.labels, nodeLabelDomains),
    ...(infrastructure?.object && isInterruptible(infrastructure.object) && { [labels.interruptible]: '' }),
  };
  const notes = entriesBelow(meta.annotations, ['node.cluster.x-k8s.io']);
  const wanted: Record<string, string> = {
    ...notes,
    [nodeAnnotations.clusterName]: machine.spec?.clusterName ?? '',
    [nodeAnnotations.clusterNamespace]: meta.namespace ?? '',
    [nodeAnnotations.machine]: machine.metadata.name,
    ...(owner && { [nodeAnnotations.ownerKind]: owner.kind, [nodeAnnotations.ownerName]: owner.name }),
    [nodeAnnotations.labelsFromMachine]: names(marks),
    [nodeAnnotations.annotationsFromMachine]: names(notes),
  };
  const before: { annotations?: Record<string, string>; labels?: Record<string, string> } = node.metadata;
  const oldNotes = before.annotations ?? {};
  const newNotes = changedEntries(oldNotes, wanted, oldNotes[nodeAnnotations.annotationsFromMachine]);
  const newMarks = changedEntries(before.labels ?? {}, marks, oldNotes[nodeAnnotations.labelsFromMachine]);
  const oldTaints: readonly Taint[] = node.spec?.taints ?? [];
  const taints = [
    ...oldTaints.filter(
      (taint) => !sameTaint(taint, nodeTaints.uninitialized) && !sameTaint(taint, nodeTaints.outdatedRevision),
    ),
    ...(isOutdated(snapshot)
      ? [oldTaints.find((taint) => sameTaint(taint, nodeTaints.outdatedRevision)) ?? nodeTaints.outdatedRevision]
      : []),
  ];
  const sameTaints = isDeepStrictEqual(taints, oldTaints);
  if (Object.keys({ ...newNotes, ...newMarks }).length === 0 && sameTaints) return undefined;
  return {
    metadata: {
      resourceVersion: node.metadata.resourceVersion,
      ...(Object.keys(newNotes).length > 0 && { annotations: newNotes }),
      ...(Object.keys(newMarks).length > 0 && { labels: newMarks }),
    },
    ...(!sameTaints && { spec: { taints: taints.length > 0 ? taints : null } }),
  };
};
